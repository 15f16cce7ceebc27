import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { prepareSnapshot } from '../evaluation/prepare.ts';
import type { JsonObject } from '../json.ts';
import { compilePattern } from '../patterns.ts';
import { createProject } from '../projects/projects-commands.ts';
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
