import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createDb } from '../database/db.ts';
import { keepPartitionsAhead } from './partition-keeper.ts';

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

async function listPartitions(year: number): Promise<string[]> {
  const { rows } = await database.db.raw<{ rows: { name: string }[] }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     WHERE inhparent = 'events'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name).filter((name) => name.startsWith(`events_${year}`));
}

describe('keepPartitionsAhead', () => {
  it('has the partitions of today and the next days when it returns', async () => {
    vi.setSystemTime('2031-02-27T23:30:00Z');
    const keeper = await keepPartitionsAhead(database.db, log);
    expect(await listPartitions(2031)).toEqual([
      'events_20310227',
      'events_20310228',
      'events_20310301',
    ]);
    await keeper.stop();
  });

  it('makes the partition of a further day before that day comes', async () => {
    vi.setSystemTime('2032-05-01T23:30:00Z');
    const keeper = await keepPartitionsAhead(database.db, log);
    vi.advanceTimersByTime(HOUR_MS);
    await keeper.stop();
    expect(await listPartitions(2032)).toContain('events_20320504');
    expect(warnings).toEqual([]);
  });

  it('makes none once it is stopped', async () => {
    vi.setSystemTime('2033-05-01T23:30:00Z');
    const keeper = await keepPartitionsAhead(database.db, log);
    await keeper.stop();
    vi.advanceTimersByTime(24 * HOUR_MS);
    expect(vi.getTimerCount()).toBe(0);
    expect(await listPartitions(2033)).toHaveLength(3);
  });

  it('reports a check that fails, and goes on', async () => {
    vi.setSystemTime('2034-05-01T23:30:00Z');
    const db = createDb(database.connection);
    const keeper = await keepPartitionsAhead(db, log);
    await db.destroy();
    vi.advanceTimersByTime(HOUR_MS);
    await vi.waitFor(() => expect(warnings).toHaveLength(1));
    db.initialize();
    vi.advanceTimersByTime(HOUR_MS);
    await keeper.stop();
    await db.destroy();
    expect(await listPartitions(2034)).toContain('events_20340504');
  });

  it('does not start when the partitions cannot be made', async () => {
    const db = createDb({ ...database.connection, host: '127.0.0.1', port: 1 });
    await expect(keepPartitionsAhead(db, log)).rejects.toThrow();
    expect(vi.getTimerCount()).toBe(0);
    await db.destroy();
  });
});
