import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ConnectionParts } from '../src/domain/database/db.ts';

/** A way to the database on which everything can be held up, without an end of the connection. */
export async function createValve(connection: ConnectionParts) {
  const { host, port } = connection;
  const sockets = new Set<Socket>();
  let isShut = false;
  const server = createServer((client) => {
    const far = host.startsWith('/')
      ? connect(join(host, `.s.PGSQL.${port}`))
      : connect(port, host);
    for (const socket of [client, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        client.destroy();
        far.destroy();
      });
    }
    client.on('data', (chunk) => isShut || far.write(chunk));
    far.on('data', (chunk) => isShut || client.write(chunk));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    connection: {
      ...connection,
      host: '127.0.0.1',
      port: typeof address === 'object' && address !== null ? address.port : 0,
    },
    shut: () => {
      isShut = true;
    },
    open: () => {
      isShut = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
