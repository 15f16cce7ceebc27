import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { aContext, aFlag, aProject } from '../../../../test/builders.ts';
import { createDisposableDatabase } from '../../../../test/disposable-database.ts';
import { storedDataNeeds } from '../../evaluation/match/stored-data.ts';
import { prepareSnapshot } from '../../evaluation/prepare/prepare.ts';
import { bootstrap } from '../../projects/bootstrap.ts';
import { findStoredData } from './find-stored-data.ts';
import { createStoredDataLoader } from './stored-data-loader.ts';

let database: Awaited<ReturnType<typeof createDisposableDatabase>>;
const personIds = new Map<string, number>();

beforeAll(async () => {
  database = await createDisposableDatabase();
  await bootstrap(database.db, {});
  for (const name of ['user', 'anon']) {
    const [row] = await database.db('persons').insert({ project_id: 1 }).returning('id');
    personIds.set(name, row?.id ?? 0);
    await database.db('person_distinct_ids').insert({
      project_id: 1,
      distinct_id: name,
      person_id: row?.id ?? 0,
    });
  }
});
beforeEach(async () => {
  await database.db('hash_key_overrides').delete();
});
afterAll(() => database.destroy());

const HALF = { groups: [{ properties: [], rollout_percentage: 50 }] };

const snapshot = prepareSnapshot(
  aProject({
    flags: [
      aFlag({ id: 1, key: 'kept', ensureExperienceContinuity: true, filters: HALF }),
      aFlag({ id: 2, key: 'also-kept', ensureExperienceContinuity: true, filters: HALF }),
      aFlag({ id: 3, key: 'plain', filters: HALF }),
    ],
  }),
  () => null,
);

async function overridesFor(
  ids: { distinctId: string; anonDistinctId?: string | null },
  mayWrite = true,
) {
  const context = aContext({ anonDistinctId: null, ...ids });
  const needs = storedDataNeeds(snapshot, context, {});
  if (needs === null) throw new Error('Nothing stored is needed.');
  const source = { db: database.db, load: createStoredDataLoader(database.db) };
  const found = await findStoredData(source, snapshot, context, needs, { mayWrite });
  return Object.fromEntries(found.hashKeyOverrides);
}

async function storedRows() {
  const rows = await database
    .db('hash_key_overrides')
    .orderBy(['person_id', 'feature_flag_key'])
    .select('person_id', 'feature_flag_key', 'hash_key');
  return rows.map((row) => [row.person_id, row.feature_flag_key, row.hash_key]);
}

it('Keeps the earlier identifier for every continuous flag, once', async () => {
  const kept = { kept: 'anon-1', 'also-kept': 'anon-1' };
  expect(await overridesFor({ distinctId: 'user', anonDistinctId: 'anon-1' })).toEqual(kept);
  expect(await overridesFor({ distinctId: 'user', anonDistinctId: 'anon-2' })).toEqual(kept);
  expect(await overridesFor({ distinctId: 'user' })).toEqual(kept);
  const user = personIds.get('user');
  expect(await storedRows()).toEqual([
    [user, 'also-kept', 'anon-1'],
    [user, 'kept', 'anon-1'],
  ]);
});

it('Keeps it for both persons, and the subject wins over who they were before', async () => {
  await database.db('hash_key_overrides').insert({
    person_id: personIds.get('anon') ?? 0,
    feature_flag_key: 'kept',
    hash_key: 'older',
  });
  expect(await overridesFor({ distinctId: 'user', anonDistinctId: 'anon' })).toEqual({
    kept: 'anon',
    'also-kept': 'anon',
  });
  const rows = await storedRows();
  expect(rows).toContainEqual([personIds.get('anon'), 'kept', 'older']);
  expect(rows).toHaveLength(4);
});

it('Stores nothing for somebody who is not stored, and nothing when it may not', async () => {
  expect(await overridesFor({ distinctId: 'stranger', anonDistinctId: 'other' })).toEqual({});
  expect(await overridesFor({ distinctId: 'user', anonDistinctId: 'anon-1' }, false)).toEqual({});
  expect(await storedRows()).toEqual([]);
});

it('Lets one of many concurrent first requests win', async () => {
  const found = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      overridesFor({ distinctId: 'user', anonDistinctId: `anon-${index}` }),
    ),
  );
  const winners = new Set(found.map((overrides) => overrides.kept));
  expect(winners.size).toBe(1);
  expect(await storedRows()).toHaveLength(2);
});
