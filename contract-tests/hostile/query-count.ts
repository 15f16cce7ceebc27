import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ConnectionParts } from '../../src/domain/database/db.ts';

/** A way to the database on which queries are counted. */
export interface QueryCount {
  readonly connection: ConnectionParts;
  /** Queries so far: each that was sent in one piece, and each execution of a prepared one. */
  count(): number;
  close(): Promise<void>;
}

const QUERY = 0x51;
const EXECUTE = 0x45;
const HEAD_BYTES = 5;

/** Starts to listen between a service and its database. */
export async function countQueries(connection: ConnectionParts): Promise<QueryCount> {
  const { host, port } = connection;
  const sockets = new Set<Socket>();
  let queries = 0;
  const server = createServer((client) => {
    const far = host.startsWith('/')
      ? connect(join(host, `.s.PGSQL.${port}`))
      : connect(port, host);
    const read = createReader((type) => {
      if (type === QUERY || type === EXECUTE) queries += 1;
    });
    for (const socket of [client, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        far.destroy();
      });
    }
    client.on('data', (chunk) => {
      read(chunk);
      far.write(chunk);
    });
    far.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    connection: {
      ...connection,
      host: '127.0.0.1',
      port: typeof address === 'object' && address !== null ? address.port : 0,
    },
    count: () => queries,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Finds the messages in what a client sends; the first one of a connection has no type. */
function createReader(onMessage: (type: number) => void): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  let skip = 0;
  let hasStarted = false;
  return (chunk) => {
    let bytes = chunk;
    if (skip > 0) {
      const passed = Math.min(skip, bytes.length);
      skip -= passed;
      bytes = bytes.subarray(passed);
    }
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    while (held.length >= HEAD_BYTES) {
      const lengthAt = hasStarted ? 1 : 0;
      if (hasStarted) onMessage(held.readUInt8(0));
      hasStarted = true;
      const size = lengthAt + held.readUInt32BE(lengthAt);
      skip = Math.max(0, size - held.length);
      held = held.subarray(Math.min(size, held.length));
    }
  };
}
