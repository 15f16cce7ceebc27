import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createStallingProxy, type StallingProxy } from '../../../test/stalling-proxy.ts';
import { readCancellably } from './cancellable-read.ts';
import { cut } from './client.ts';
import { withConnection, withDeadline } from './connection.ts';
import { isDatabaseOutage } from './database-error.ts';
import { createDb, type Db } from './db.ts';
import { pipelinedSnapshot, pipelinedTransaction, sendWith } from './pipeline.ts';
import { readPoolStats } from './pool-stats.ts';
import { readConsistently, transaction } from './transaction.ts';

const PATIENT = { connectMs: 10_000, acquireMs: 10_000 };
const SHORT = { lockMs: 10_000, statementMs: 10_000, totalMs: 200 };

const SELECT = 'SELECT pg_backend_pid() AS pid';

/** Every way to the database that has a deadline, with a short one. */
const WAYS: readonly (readonly [string, (db: Db) => Promise<unknown>])[] = [
  [
    'a borrowed connection',
    (db) => withConnection(db, (client) => withDeadline(client, 200, () => client.query(SELECT))),
  ],
  ['a transaction', (db) => transaction(db, SHORT, (tx) => tx.raw(SELECT))],
  ['a consistent read', (db) => readConsistently(db, SHORT, (tx) => tx.raw(SELECT))],
  [
    'a pipelined transaction',
    (db) => pipelinedTransaction(db, SHORT, async (tx) => sendWith(await tx.raw(SELECT))),
  ],
  ['a pipelined snapshot', (db) => pipelinedSnapshot(db, 200, async (tx) => tx.raw(SELECT))],
  [
    'a cancellable read',
    (db) => readCancellably(db, { timeoutMs: 100, graceMs: 100 }, (c) => c.query(SELECT)),
  ],
];

let database: DisposableDatabase;
let proxy: StallingProxy;
/** One connection only: what happens to it, the next caller sees. */
let db: Db;

beforeAll(async () => {
  database = await createDisposableDatabase();
  proxy = await createStallingProxy(database.connection);
});
afterAll(async () => {
  await proxy.close();
  await database.destroy();
});
beforeEach(() => {
  db = createDb(proxy.connection, 1, PATIENT);
});
afterEach(async () => {
  proxy.resume();
  await db.destroy();
});

async function backendOf(pool: Db): Promise<number> {
  const { rows }: { rows: { pid: number }[] } = await pool.raw(SELECT);
  return rows[0]?.pid ?? 0;
}

/** The error of work that has to fail. */
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => 'It did not fail.',
    (error: unknown) => error,
  );

describe('a server that does not answer any more', () => {
  it.each(WAYS)('costs %s its connection, which is not lent again', async (_way, ask) => {
    const before = await backendOf(db);
    proxy.stall();
    expect(await failureOf(ask(db))).toSatisfy(isDatabaseOutage);
    proxy.resume();
    expect(await backendOf(db)).not.toBe(before);
    expect(readPoolStats(db)).toEqual({ used: 0, idle: 1, waiting: 0 });
  });

  it('is an outage when it accepts a connection and says nothing', async () => {
    const silent = createDb(proxy.connection, 1, { ...PATIENT, connectMs: 100 });
    proxy.stall();
    expect(await failureOf(silent.raw(SELECT))).toSatisfy(isDatabaseOutage);
    proxy.resume();
    await vi.waitFor(() => backendOf(silent));
    await silent.destroy();
  });
});

describe('a pool whose connections are all lent', () => {
  it.each([...WAYS, ['a query', (pool: Db) => pool.raw(SELECT)] as const])(
    'is an outage for %s that gets none in time, and lends again later',
    async (_way, ask) => {
      const busy = createDb(database.connection, 1, { ...PATIENT, acquireMs: 50 });
      // To connect may take longer than that; the connection is there afterwards.
      await vi.waitFor(() => backendOf(busy));
      await withConnection(busy, async () => {
        expect(await failureOf(ask(busy))).toSatisfy(isDatabaseOutage);
        expect(readPoolStats(busy)).toEqual({ used: 1, idle: 0, waiting: 0 });
      });
      expect(readPoolStats(busy)).toEqual({ used: 0, idle: 1, waiting: 0 });
      await backendOf(busy);
      await busy.destroy();
    },
  );
});

describe('a connection that comes back', () => {
  it('is lent again when the work on it failed', async () => {
    const before = await backendOf(db);
    const failure = new Error('no');
    await expect(withConnection(db, () => Promise.reject(failure))).rejects.toBe(failure);
    const broken = withConnection(db, (client) => client.query('SELECT nothing'));
    await expect(broken).rejects.toThrow('"nothing" does not exist');
    expect(await backendOf(db)).toBe(before);
  });

  it('is not lent once it was cut, even to somebody who waits for it already', async () => {
    const before = await backendOf(db);
    let waiting: Promise<number> = Promise.resolve(0);
    await withConnection(db, async (client) => {
      waiting = backendOf(db);
      cut(client);
    });
    expect(await waiting).not.toBe(before);
  });

  it('is not lent in the middle of a transaction, which then ends', async () => {
    const pid = await withConnection(db, async (client) => {
      await client.query('BEGIN');
      const { rows } = await client.query<{ pid: number }>(SELECT);
      return rows[0]?.pid;
    });
    expect(await backendOf(db)).not.toBe(pid);
    await vi.waitFor(async () => {
      const { rowCount } = await database.db.raw('SELECT FROM pg_stat_activity WHERE pid = ?', [
        pid ?? 0,
      ]);
      expect(rowCount).toBe(0);
    });
  });
});
