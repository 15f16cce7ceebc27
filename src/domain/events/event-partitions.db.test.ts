import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { parseCaptureBody } from '../../../test/parse-capture-body.ts';
import { createEventBuffer } from '../capture/commit/event-buffer.ts';
import { ensurePartitions, toDay } from './event-partitions.ts';
import { listEvents } from './events-queries.ts';

let database: DisposableDatabase;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());

async function listPartitions(): Promise<string[]> {
  const result: { rows: { name: string }[] } = await database.db.raw(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     WHERE inhparent = 'events'::regclass ORDER BY 1`,
  );
  return result.rows.map(({ name }) => name);
}

it('tells the UTC day', () => {
  expect(toDay(new Date('2026-12-31T23:59:59.999Z'))).toBe('2026-12-31');
  expect(toDay(new Date('2027-01-01T00:00:00Z'))).toBe('2027-01-01');
  expect(toDay(new Date('2026-12-31T23:59:59.999Z'))).toBe('2026-12-31');
});

it('creates each day once, whoever else does it at the same time', async () => {
  const start = new Date('2026-12-30T23:30:00Z');
  await Promise.all(
    [0, 1, 0, 1, 0, 1].map((offset) =>
      ensurePartitions(database.db, new Date(start.getTime() + offset * 86_400_000), 3),
    ),
  );
  await ensurePartitions(database.db, start, 3);
  expect(await listPartitions()).toEqual([
    'events_20261230',
    'events_20261231',
    'events_20270101',
    'events_20270102',
  ]);
});

it('does not wait for somebody who reads events', async () => {
  await database.db.transaction(async (tx) => {
    await tx('events').count();
    await ensurePartitions(database.db, new Date('2027-03-01T00:00:00Z'), 1);
  });
  expect(await listPartitions()).toContain('events_20270301');
});

it('has the partitions ready when events of a new day arrive', async () => {
  const { db } = database;
  const [project] = await db('projects').insert({ name: 'p', api_token: 't' }).returning('id');
  const buffer = createEventBuffer({
    db,
    flushAfterMs: 0,
    onGroupTypesAdded: async () => undefined,
    log: { warn: () => {}, error: () => {} },
  });
  const body = { api_key: 't', event: 'x', distinct_id: 'u' };
  for (const time of ['2028-02-28T23:59:59Z', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z']) {
    const parsed = parseCaptureBody(body, { path: 'event', receivedAt: new Date(time) });
    await buffer.add(project?.id ?? 0, parsed.events);
  }
  expect(await listEvents(db, project?.id ?? 0, { limit: 10 })).toHaveLength(3);
  const days = (await listPartitions()).filter((name) => name.startsWith('events_2028'));
  expect(days).toEqual([
    'events_20280228',
    'events_20280229',
    'events_20280301',
    'events_20280302',
  ]);
});
