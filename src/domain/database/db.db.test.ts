import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { isDatabaseOutage } from './database-error.ts';
import { createDb, type DatabaseConnection } from './db.ts';
import { readPoolStats } from './pool-stats.ts';

let database: DisposableDatabase;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());

/** The error of a query on a pool of its own. */
async function failureOn(connection: DatabaseConnection): Promise<unknown> {
  const db = createDb(connection);
  try {
    return await db.raw('SELECT 1').catch((error: unknown) => error);
  } finally {
    await db.destroy();
  }
}

describe('values of the database', () => {
  it('are numbers for a bigint', async () => {
    const { rows } = await database.db.raw('SELECT 42::bigint AS one, count(*) AS none FROM users');
    expect(rows).toEqual([{ one: 42, none: 0 }]);
  });

  it('are dates for a timestamp and values for jsonb', async () => {
    const { rows } = await database.db.raw(
      `SELECT '2026-01-20T10:00:00+02'::timestamptz AS at, '{"a": [1, null]}'::jsonb AS json`,
    );
    expect(rows).toEqual([{ at: new Date('2026-01-20T08:00:00Z'), json: { a: [1, null] } }]);
  });
});

describe('an outage', () => {
  it.each([
    ['nobody listens at the port', () => ({ ...database.connection, host: '127.0.0.1', port: 1 })],
    ['nobody listens at the URL', () => 'postgres://me:secret@127.0.0.1:1/flags'],
    ['the socket does not exist', () => ({ ...database.connection, host: '/nonexistent' })],
  ])('is recognised when %s', async (_what, connection) => {
    expect(await failureOn(connection())).toSatisfy(isDatabaseOutage);
  });

  it('is recognised when the connection is cut during a query', async () => {
    const db = createDb(database.connection);
    const cut = db.raw('SELECT pg_terminate_backend(pg_backend_pid())');
    expect(await cut.catch((error: unknown) => error)).toSatisfy(isDatabaseOutage);
    await db.destroy();
  });

  it('is not seen in a database that does not exist', async () => {
    const error = await failureOn({ ...database.connection, database: 'no_such_database' });
    expect(error).toMatchObject({ code: '3D000' });
    expect(isDatabaseOutage(error)).toBe(false);
  });
});

describe('the pool', () => {
  it('connects when the first query comes, and tells how it is used', async () => {
    const db = createDb(database.connection, 2);
    expect(readPoolStats(db)).toEqual({ used: 0, idle: 0, waiting: 0 });
    await db.transaction(async (tx) => {
      await tx.raw('SELECT 1');
      expect(readPoolStats(db)).toEqual({ used: 1, idle: 0, waiting: 0 });
    });
    expect(readPoolStats(db)).toEqual({ used: 0, idle: 1, waiting: 0 });
    await db.destroy();
  });
});
