import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { aBuffer, events, insertProject } from '../../../../test/event-buffers.ts';
import { untilWaiting } from '../../../../test/until-waiting.ts';
import { listEvents } from '../../events/events-queries.ts';
import { getPersonByDistinctId } from '../../persons/persons-queries.ts';

/** Longer than any memory of a repeat. */
const LONG_MS = 600_000;

const uuid = '01a1fa98-7cf7-790c-af81-56731cada99e';

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());
beforeEach(async () => {
  projectId = await insertProject(database.db);
});

describe('events that come again', () => {
  it('are stored once and applied once', async () => {
    const buffer = aBuffer(database.db);
    const first = { uuid, properties: { $set: { a: 'old' } } };
    await buffer.add(projectId, events(first));
    await buffer.add(projectId, events({ properties: { $set: { a: 'new' } } }));
    await buffer.add(projectId, events(first, { event: 'y' }));
    expect(await listEvents(database.db, projectId, { limit: 10 })).toHaveLength(3);
    expect(await getPersonByDistinctId(database.db, projectId, 'u')).toMatchObject({
      properties: { a: 'new' },
    });
  });

  it('are stored once whether or not others came again shortly before', async () => {
    let nowMs = 0;
    const buffer = aBuffer(database.db, { now: () => nowMs });
    for (const afterMs of [0, 1, 1, LONG_MS, 1]) {
      nowMs += afterMs;
      await buffer.add(projectId, events({ uuid }, { event: 'y' }));
    }
    const stored = await listEvents(database.db, projectId, { limit: 10 });
    expect(stored.map(({ event }) => event).toSorted()).toEqual(['x', 'y', 'y', 'y', 'y', 'y']);
  });

  it('keep nothing from being stored that came with them, and nothing is told twice', async () => {
    const told: number[] = [];
    const trouble: string[] = [];
    const note = (_fields: object, message: string) => trouble.push(message);
    const buffer = aBuffer(database.db, {
      onGroupTypesAdded: async (id) => {
        told.push(id);
        return undefined;
      },
      log: { warn: note, error: note },
    });
    await buffer.add(projectId, events({ uuid }));
    await buffer.add(
      projectId,
      events(
        { uuid },
        { event: 'y', distinct_id: 'v', properties: { $set: { a: 1 }, $groups: { firm: 7 } } },
      ),
    );
    expect(await listEvents(database.db, projectId, { limit: 10 })).toHaveLength(2);
    expect(await getPersonByDistinctId(database.db, projectId, 'v')).toMatchObject({
      properties: { a: 1 },
    });
    expect(told).toEqual([projectId]);
    expect(trouble).toEqual([]);
  });

  it('within one request are taken once, the first winning', async () => {
    await aBuffer(database.db).add(projectId, events({ uuid, event: 'a' }, { uuid, event: 'b' }));
    expect(await listEvents(database.db, projectId, { limit: 10 })).toMatchObject([{ event: 'a' }]);
  });

  it('in another project are other events', async () => {
    const buffer = aBuffer(database.db);
    const otherId = await insertProject(database.db);
    await Promise.all([
      buffer.add(projectId, events({ uuid })),
      buffer.add(otherId, events({ uuid })),
    ]);
    for (const id of [projectId, otherId]) {
      expect(await listEvents(database.db, id, { limit: 10 })).toHaveLength(1);
    }
  });

  it('to two processes at once, in any order, are applied by one of them', async () => {
    const { db } = database;
    const trouble: string[] = [];
    const note = (_fields: object, message: string) => trouble.push(message);
    const sent = events(...Array.from({ length: 9 }, (_, k) => ({ distinct_id: `u${k}` })));
    const middle = sent[4]?.uuid ?? '';
    const added: Promise<void>[] = [];
    // Both are halted at the event in the middle, where opposite orders would block each other.
    const halt = await db.transaction();
    await halt.raw('INSERT INTO event_uuids VALUES (?, ?, now())', [projectId, middle]);
    for (const order of [sent, sent.toReversed()]) {
      added.push(aBuffer(database.db, { log: { warn: note, error: note } }).add(projectId, order));
      await untilWaiting(db, added.length);
    }
    await halt.rollback();
    await Promise.all(added);
    expect(trouble).toEqual([]);
    expect(await listEvents(db, projectId, { limit: 100 })).toHaveLength(9);
  });
});
