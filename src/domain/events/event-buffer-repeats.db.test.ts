import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import type { JsonObject } from '../json.ts';
import { getPersonByDistinctId } from '../persons/persons-queries.ts';
import type { CaptureEvent } from './capture-event.ts';
import { createEventBuffer, type EventBuffer, type EventBufferOptions } from './event-buffer.ts';
import { listEvents } from './events-queries.ts';
import { parseCaptureBody } from './parse-capture.ts';

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
  projectId = await createProject();
});

async function createProject(): Promise<number> {
  const [project] = await database
    .db('projects')
    .insert({ name: 'p', api_token: `phc_${Math.random()}` })
    .returning('id');
  return project?.id ?? 0;
}

function aBuffer(options: Partial<EventBufferOptions> = {}): EventBuffer {
  return createEventBuffer({
    db: database.db,
    flushAfterMs: 0,
    onGroupTypesAdded: async () => undefined,
    log: { warn: () => {}, error: () => {} },
    ...options,
  });
}

function events(...batch: JsonObject[]): CaptureEvent[] {
  const items = batch.map((item) => ({ event: 'x', distinct_id: 'u', ...item }));
  const context = { path: 'event' as const, receivedAt: new Date() };
  return parseCaptureBody({ api_key: 't', batch: items }, context).events;
}

describe('events that come again', () => {
  it('are stored once and applied once', async () => {
    const buffer = aBuffer();
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
    const buffer = aBuffer({ now: () => nowMs });
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
    const buffer = aBuffer({
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
    await aBuffer().add(projectId, events({ uuid, event: 'a' }, { uuid, event: 'b' }));
    expect(await listEvents(database.db, projectId, { limit: 10 })).toMatchObject([{ event: 'a' }]);
  });

  it('in another project are other events', async () => {
    const buffer = aBuffer();
    const otherId = await createProject();
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
      added.push(aBuffer({ log: { warn: note, error: note } }).add(projectId, order));
      await untilWaiting(added.length);
    }
    await halt.rollback();
    await Promise.all(added);
    expect(trouble).toEqual([]);
    expect(await listEvents(db, projectId, { limit: 100 })).toHaveLength(9);
  });
});

/** Until so many statements wait for a lock. */
async function untilWaiting(count: number): Promise<void> {
  for (let waiting = 0; waiting < count; ) {
    const result: { rows: { waiting: number }[] } = await database.db.raw(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    waiting = result.rows[0]?.waiting ?? 0;
  }
}
