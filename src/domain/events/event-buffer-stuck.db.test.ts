import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createValve } from '../../../test/valve.ts';
import { createDb } from '../database/db.ts';
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

  it('is refused for the one project that somebody holds, and stored for the others', async () => {
    const [other] = await database
      .db('projects')
      .insert({ name: 'other', api_token: 'other' })
      .returning('id');
    const otherId = other?.id ?? 0;
    const options = { limits: { ...PATIENT, lockMs: 100 }, flushAfterMs: 60_000 };
    const buffer = aBuffer({ ...options, flushMaxEvents: 3 });
    await database.db.transaction(async (tx) => {
      await lockPersons(tx, [projectId]);
      const ofHeld = [
        buffer.add(projectId, anEvent('held')),
        buffer.add(projectId, anEvent('held as well')),
      ];
      const ofOthers = buffer.add(otherId, anEvent('not held'));
      const behind = buffer.add(otherId, anEvent('behind'));
      const refused = Promise.allSettled(ofHeld);
      await ofOthers;
      for (const result of await refused) {
        expect(result).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } });
      }
      await Promise.all([buffer.close(), behind]);
    });
    const stored = await listEvents(database.db, otherId, { after: new Date(0), limit: 5 });
    expect(stored.map(({ event }) => event).toSorted()).toEqual(['behind', 'not held']);
    const held = await listEvents(database.db, projectId, { event: 'held', limit: 5 });
    expect(held).toEqual([]);
  });

  it('is refused when the database does not answer, and so is what waits behind it', async () => {
    const valve = await createValve(database.connection);
    const db = createDb(valve.connection, 2);
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
