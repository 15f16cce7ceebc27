import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createStallingProxy } from '../../../test/stalling-proxy.ts';
import type { JsonObject } from '../common/json.ts';
import { createDb } from '../database/db.ts';
import { prepareSnapshot } from '../evaluation/prepare/prepare.ts';
import { createProject } from '../projects/projects-commands.ts';
import { compilePattern } from '../targeting/patterns.ts';
import { type CountOptions, countAudience } from './count-audience.ts';
import { prepareAudience } from './prepare-audience.ts';

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  const { db } = database;
  projectId = (await db.transaction((tx) => createProject(tx, { name: 'p' }))).project.id;
  for (const plan of ['The Pro plan', 'free']) {
    await db('persons').insert({ project_id: projectId, properties: JSON.stringify({ plan }) });
  }
});
afterAll(() => database.destroy());

/** Counts the persons whose plan the filter matches. */
function count(filter: JsonObject, options: Partial<CountOptions> = {}, db = database.db) {
  const definitions = { projectId, revision: 1, timezone: 'UTC', groupTypes: [], flags: [] };
  const snapshot = prepareSnapshot({ ...definitions, cohorts: [] }, compilePattern);
  const filters = [{ key: 'plan', type: 'person', ...filter }];
  const condition = prepareAudience(filters, null, snapshot, compilePattern);
  return countAudience(db, snapshot, condition, { now: new Date(), timeoutMs: 15_000, ...options });
}

describe('counting with very long filters', () => {
  it.each([
    ['icontains_multi', 1],
    ['not_icontains_multi', 1],
  ])('looks for more texts by %s than a statement takes values', async (operator, affected) => {
    const value = Array.from({ length: 70_000 }, (_, at) => `no such text ${at}`).concat('pro');
    expect(await count({ operator, value })).toEqual({ total: 2, affected });
  });
});

describe('a count that cannot get on', () => {
  it('is unavailable when the database does not answer any more, and works again', async () => {
    const proxy = await createStallingProxy(database.connection);
    const db = createDb(proxy.connection, 1);
    const filter = { operator: 'is_set' };
    await count(filter, {}, db);
    proxy.stall();
    const stuck = count(filter, { timeoutMs: 100, graceMs: 200 }, db);
    await expect(stuck).rejects.toMatchObject({ kind: 'unavailable' });
    proxy.resume();
    expect(await count(filter, {}, db)).toEqual({ total: 2, affected: 2 });
    await db.destroy();
    await proxy.close();
  });

  it('keeps its connection until its cancellation is through', async () => {
    const db = createDb(database.connection, 2);
    const other: unknown = await db.client.acquireConnection();
    const stop = new AbortController();
    let isSettled = false;
    let counting: Promise<unknown> = Promise.resolve();
    const activity = async () => {
      const { rows } = await database.db.raw(
        `SELECT wait_event_type FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE 'SELECT verdict%' AND state = 'active'`,
      );
      return rows.length;
    };
    await database.db.transaction(async (tx) => {
      await tx.raw('LOCK TABLE persons IN ACCESS EXCLUSIVE MODE');
      counting = count({ operator: 'is_set' }, { signal: stop.signal }, db).finally(() => {
        isSettled = true;
      });
      await vi.waitFor(async () => expect(await activity()).toBe(1));
      // The cancellation has no connection yet.
      stop.abort();
    });
    await vi.waitFor(async () => expect(await activity()).toBe(0));
    expect(isSettled).toBe(false);
    await db.client.releaseConnection(other);
    expect(await counting).toEqual({ total: 2, affected: 2 });
    await db.destroy();
  });
});
