import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { parseCaptureBody } from '../../../../test/parse-capture-body.ts';
import { findStoredProperties } from '../../../../test/stored-properties.ts';
import { type ConnectionParts, createDb } from '../../database/db.ts';
import { listEvents } from '../../events/events-queries.ts';
import { getPersonByDistinctId } from '../../persons/persons-queries.ts';
import { lockPersons } from '../../persons/write/persons-writes.ts';
import { createEventBuffer } from './event-buffer.ts';

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

/** A door to the database that can be shut and opened, always at the same port. */
async function createDoor({ host, port }: ConnectionParts) {
  const sockets = new Set<Socket>();
  const accept = (client: Socket): void => {
    const server = host.startsWith('/')
      ? connect(join(host, `.s.PGSQL.${port}`))
      : connect(port, host);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.pipe(server).pipe(client);
  };
  let server: Server | undefined = createServer(accept).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const doorPort = (server.address() as AddressInfo).port;
  return {
    port: doorPort,
    async open(): Promise<void> {
      server = createServer(accept).listen(doorPort, '127.0.0.1');
      await once(server, 'listening');
    },
    async shut(): Promise<void> {
      const closing = server;
      server = undefined;
      if (closing === undefined) return;
      closing.close();
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await once(closing, 'close');
    },
  };
}

function anEvent(uuid?: string) {
  const item = { event: 'x', distinct_id: 'u', properties: { $set: { a: 1 } } };
  const body = { api_key: 't', ...item, ...(uuid === undefined ? {} : { uuid }) };
  return parseCaptureBody(body, { path: 'event', receivedAt: new Date() }).events;
}

it('answers unavailable while the database is away and recovers by itself', async () => {
  const door = await createDoor(database.connection);
  await door.shut();
  const db = createDb({ ...database.connection, host: '127.0.0.1', port: door.port }, 2);
  const buffer = createEventBuffer({
    db,
    flushAfterMs: 0,
    onGroupTypesAdded: async () => undefined,
    log: { warn: () => {}, error: () => {} },
  });
  const lookup = { distinctId: 'u', groups: [] };

  await expect(buffer.add(projectId, anEvent())).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(findStoredProperties(db, projectId, lookup)).rejects.toMatchObject({
    kind: 'unavailable',
  });
  expect(buffer.depth()).toBe(0);

  await door.open();
  await buffer.add(projectId, anEvent());
  expect((await findStoredProperties(db, projectId, lookup)).person?.properties).toEqual({ a: 1 });

  // The connection is lost in the middle of a commit: the client repeats the same event later.
  const event = anEvent('01a1fa98-7cf7-790c-af81-56731cada99e');
  await database.db.transaction(async (tx) => {
    await lockPersons(tx, [projectId]);
    const lost = buffer.add(projectId, event);
    const waiting =
      "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    for (let n = 0; n === 0; ) {
      const result: { rows: { n: number }[] } = await database.db.raw(waiting);
      n = result.rows[0]?.n ?? 0;
    }
    await Promise.all([door.shut(), expect(lost).rejects.toMatchObject({ kind: 'unavailable' })]);
  });
  await door.open();
  await buffer.add(projectId, event);
  await buffer.close();

  expect(await listEvents(database.db, projectId, { limit: 10 })).toHaveLength(2);
  expect(await getPersonByDistinctId(database.db, projectId, 'u')).not.toBeNull();
  await db.destroy();
  await door.shut();
});
