import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import type { Db } from '../database/db.ts';
import { createDb } from '../database/db.ts';
import { keepPartitions } from './partition-keeper.ts';

const HOUR_MS = 3_600_000;

let database: DisposableDatabase;
let warnings: string[] = [];
const log = { warn: (_fields: object, message: string) => warnings.push(message) };

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());
beforeEach(() => {
  warnings = [];
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Keeps a thousand days, so that no test drops what another one made, unless it says otherwise. */
function keepPartitionsAhead(db: Db, retentionDays = 1_000) {
  return keepPartitions(db, { log, retentionDays, now: () => new Date() });
}

async function listPartitions(year: number): Promise<string[]> {
  const { rows } = await database.db.raw<{ rows: { name: string }[] }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     WHERE inhparent = 'events'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name).filter((name) => name.startsWith(`events_${year}`));
}

describe('keepPartitions', () => {
  it('has the partitions of today and the next days when it returns', async () => {
    vi.setSystemTime('2031-02-27T23:30:00Z');
    const keeper = await keepPartitionsAhead(database.db);
    expect(await listPartitions(2031)).toEqual([
      'events_20310227',
      'events_20310228',
      'events_20310301',
    ]);
    await keeper.stop();
  });

  it('makes the partition of a further day before that day comes', async () => {
    vi.setSystemTime('2032-05-01T23:30:00Z');
    const keeper = await keepPartitionsAhead(database.db);
    vi.advanceTimersByTime(HOUR_MS);
    await keeper.stop();
    expect(await listPartitions(2032)).toContain('events_20320504');
    expect(warnings).toEqual([]);
  });

  it('makes none once it is stopped', async () => {
    vi.setSystemTime('2033-05-01T23:30:00Z');
    const keeper = await keepPartitionsAhead(database.db);
    await keeper.stop();
    vi.advanceTimersByTime(24 * HOUR_MS);
    expect(vi.getTimerCount()).toBe(0);
    expect(await listPartitions(2033)).toHaveLength(3);
  });

  it('reports a check that fails, and goes on', async () => {
    vi.setSystemTime('2034-05-01T23:30:00Z');
    const keeper = await keepPartitionsAhead(database.db);
    await database.db.raw('ALTER TABLE events RENAME TO events_away');
    vi.advanceTimersByTime(HOUR_MS);
    await vi.waitFor(() => expect(new Set(warnings).size).toBe(2), 10_000);
    expect(warnings).toContain('Partitions for the next days could not be made; trying again.');
    await database.db.raw('ALTER TABLE events_away RENAME TO events');
    vi.advanceTimersByTime(HOUR_MS);
    await vi.waitFor(
      async () => expect(await listPartitions(2034)).toContain('events_20340504'),
      10_000,
    );
    await keeper.stop();
  });

  it('does not start when the partitions cannot be made', async () => {
    const db = createDb({ ...database.connection, host: '127.0.0.1', port: 1 });
    await expect(keepPartitionsAhead(db)).rejects.toThrow();
    expect(vi.getTimerCount()).toBe(0);
    await db.destroy();
  });

  it('drops the days that are over their time with what they hold, and forgets their uuids', async () => {
    vi.setSystemTime('2041-05-10T12:00:00Z');
    const writer = await keepPartitionsAhead(database.db);
    await writer.stop();
    const at = (day: string) => ({ received_on: day, project_id: 9, uuid: randomUUID() });
    const [old, kept] = [at('2041-05-10'), at('2041-05-11')];
    for (const { received_on, project_id, uuid } of [old, kept]) {
      const row = { received_on, project_id, uuid };
      await database.db('events').insert({
        ...row,
        event: 'x',
        distinct_id: 'u',
        properties: '{}',
        timestamp: new Date(),
        received_at: new Date(),
      });
      await database.db.raw('INSERT INTO event_uuids VALUES (?, ?, ?)', [
        project_id,
        uuid,
        received_on,
      ]);
    }
    const uuids = async () => {
      const { rows } = await database.db.raw<{ rows: { uuid: string }[] }>(
        'SELECT uuid FROM event_uuids WHERE project_id = 9',
      );
      return rows.map(({ uuid }) => uuid);
    };

    vi.setSystemTime('2041-05-20T23:59:59Z');
    const keeping = await keepPartitionsAhead(database.db, 10);
    await keeping.stop();
    expect(await listPartitions(2041)).toContain('events_20410510');
    expect(await uuids()).toHaveLength(2);

    vi.setSystemTime('2041-05-21T00:00:00Z');
    const dropping = await keepPartitionsAhead(database.db, 10);
    await vi.waitFor(async () => expect(await uuids()).toEqual([kept.uuid]), 10_000);
    await dropping.stop();
    expect((await listPartitions(2041))[0]).toBe('events_20410511');
    const left = database.db('events').where({ project_id: 9 }).pluck('uuid');
    expect(await left).toEqual([kept.uuid]);
    expect(warnings).toEqual([]);
  });

  it('forgets the uuids of a large table to its end', async () => {
    vi.setSystemTime('2046-05-10T12:00:00Z');
    await (await keepPartitionsAhead(database.db)).stop();
    await database.db.raw(
      `INSERT INTO event_uuids
       SELECT 10, gen_random_uuid(), date '2046-05-10' + n % 2 FROM generate_series(1, 400000) n`,
    );
    const { rows: sizes } = await database.db.raw<{ rows: { pages: number }[] }>(
      "SELECT pg_relation_size('event_uuids')::int / 8192 AS pages",
    );
    expect(sizes[0]?.pages).toBeGreaterThan(2_000);
    vi.setSystemTime('2046-05-21T00:00:00Z');
    const keeper = await keepPartitionsAhead(database.db, 10);
    await vi.waitFor(async () => {
      const { rows } = await database.db.raw<{ rows: { day: string; count: number }[] }>(
        `SELECT received_on::text AS day, count(*)::int FROM event_uuids
         WHERE project_id = 10 GROUP BY 1`,
      );
      expect(rows).toEqual([{ day: '2046-05-11', count: 200_000 }]);
    }, 20_000);
    await keeper.stop();
    expect(warnings).toEqual([]);
  });

  it('drops what expires while it runs', async () => {
    vi.setSystemTime('2042-05-10T23:30:00Z');
    const keeper = await keepPartitionsAhead(database.db, 1);
    vi.setSystemTime('2042-05-12T00:10:00Z');
    vi.advanceTimersByTime(HOUR_MS);
    await vi.waitFor(
      async () => expect((await listPartitions(2042))[0]).toBe('events_20420511'),
      10_000,
    );
    await keeper.stop();
  });

  it('does not hold events up when somebody reads them, and tries again later', async () => {
    vi.setSystemTime('2043-05-10T12:00:00Z');
    const writer = await keepPartitionsAhead(database.db, 1);
    await writer.stop();
    vi.setSystemTime('2043-05-20T12:00:00Z');
    await database.db.transaction(async (tx) => {
      await tx.raw('LOCK TABLE events_20430510 IN ACCESS SHARE MODE');
      const keeper = await keepPartitionsAhead(database.db, 1);
      await vi.waitFor(() => expect(warnings).toHaveLength(1), 10_000);
      expect(warnings).toEqual(['Expired events could not be dropped; trying again.']);
      await keeper.stop();
    });
    expect(await listPartitions(2043)).toContain('events_20430510');
  });
});
