import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ConnectionParts } from '../src/domain/database/db.ts';

/** A TCP proxy in front of the database that can stop forwarding, and counts round trips. */
export interface StallingProxy {
  /** How clients reach the database through this proxy. */
  readonly connection: ConnectionParts;
  /** From now on nothing is forwarded, as when a host is gone: no connection ends. */
  stall(): void;
  /** Forwards again what is sent from now on; what was sent meanwhile is lost. */
  resume(): void;
  /** How often a client has sent something since the server last answered on that connection. */
  roundTrips(): number;
  close(): Promise<void>;
}

/** Listens on a port of its own, for any number of clients. */
export async function createStallingProxy(connection: ConnectionParts): Promise<StallingProxy> {
  const { host, port } = connection;
  const sockets = new Set<Socket>();
  let isStalled = false;
  let roundTrips = 0;
  const server = createServer((client) => {
    const database = host.startsWith('/')
      ? connect(join(host, `.s.PGSQL.${port}`))
      : connect(port, host);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        client.destroy();
        database.destroy();
      });
    }
    let isAnswered = true;
    client.on('data', (chunk) => {
      if (isAnswered) roundTrips += 1;
      isAnswered = false;
      if (!isStalled) database.write(chunk);
    });
    database.on('data', (chunk) => {
      isAnswered = true;
      if (!isStalled) client.write(chunk);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    connection: {
      ...connection,
      host: '127.0.0.1',
      port: typeof address === 'object' && address !== null ? address.port : 0,
    },
    stall: () => {
      isStalled = true;
    },
    resume: () => {
      isStalled = false;
    },
    roundTrips: () => roundTrips,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
