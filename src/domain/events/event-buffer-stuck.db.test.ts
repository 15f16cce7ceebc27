import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { type ConnectionParts, createDb } from '../database/db.ts';
import { lockPersons } from '../persons/persons-writes.ts';
import { createEventBuffer, type EventBufferOptions } from './event-buffer.ts';
import { listEvents } from './events-queries.ts';
import { parseCaptureBody } from './parse-capture.ts';

const PATIENT = { lockMs: 60_000, statementMs: 60_000, totalMs: 60_000 };

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  const [project] = await database
    .db('projects')
    .insert({ name: 'p', api_token: 't' })
    .returning('id');
  projectId = project?.id ?? 0;
});
afterAll(() => database.destroy());

function aBuffer(options: Partial<EventBufferOptions>) {
  return createEventBuffer({
    db: database.db,
    flushAfterMs: 0,
    onGroupTypesAdded: async () => undefined,
    log: { warn: () => {}, error: () => {} },
    ...options,
  });
}

function anEvent(event: string) {
  const body = { api_key: 't', event, distinct_id: 'u', properties: { $set: { a: 1 } } };
  return parseCaptureBody(body, { path: 'event', receivedAt: new Date() }).events;
}

/** A way to the database on which everything can be held up, without an end of the connection. */
async function createValve({ host, port }: ConnectionParts) {
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
    port: typeof address === 'object' && address !== null ? address.port : 0,
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

describe('a commit that cannot get on', () => {
  it.each([
    ['a lock that nobody gives up', { ...PATIENT, lockMs: 50 }],
    ['a statement that takes too long', { ...PATIENT, statementMs: 50 }],
    ['everything that takes too long', { ...PATIENT, totalMs: 300 }],
  ])('is refused as unavailable because of %s, and works later', async (name, limits) => {
    const buffer = aBuffer({ limits });
    await database.db.transaction(async (tx) => {
      await lockPersons(tx, [projectId]);
      await expect(buffer.add(projectId, anEvent(name))).rejects.toMatchObject({
        kind: 'unavailable',
      });
    });
    await buffer.add(projectId, anEvent(name));
    await buffer.close();
    expect(await listEvents(database.db, projectId, { event: name, limit: 5 })).toHaveLength(1);
  });

  it('is refused when the database does not answer, and so is what waits behind it', async () => {
    const valve = await createValve(database.connection);
    const db = createDb({ ...database.connection, host: '127.0.0.1', port: valve.port }, 2);
    const buffer = aBuffer({ db, limits: { ...PATIENT, totalMs: 500 }, flushMaxEvents: 1 });
    await buffer.add(projectId, anEvent('before'));
    valve.shut();
    const refused = ['first', 'second', 'third'].map((name) =>
      expect(buffer.add(projectId, anEvent(name))).rejects.toMatchObject({ kind: 'unavailable' }),
    );
    await Promise.all(refused);
    expect(buffer.depth()).toBe(0);
    valve.open();
    await buffer.add(projectId, anEvent('after'));
    await buffer.close();
    const stored = await listEvents(database.db, projectId, { after: new Date(0), limit: 50 });
    const names = stored.map(({ event }) => event);
    expect(names).toEqual(expect.arrayContaining(['before', 'after']));
    expect(names).not.toContain('second');
    await db.destroy();
    await valve.close();
  });
});
