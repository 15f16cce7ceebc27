import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDisposableDatabase } from '../../../../test/disposable-database.ts';
import { createStallingProxy } from '../../../../test/stalling-proxy.ts';
import { createDb } from '../../database/db.ts';
import { bootstrap } from '../../projects/bootstrap.ts';
import { createStoredDataLoader } from './stored-data-loader.ts';
import type { StoredLookup } from './stored-data-query.ts';

let database: Awaited<ReturnType<typeof createDisposableDatabase>>;

beforeAll(async () => {
  database = await createDisposableDatabase();
  const { db } = database;
  await bootstrap(db, {});
  for (const [index, name] of ['ann', 'bob'].entries()) {
    const [person] = await db('persons')
      .insert({ project_id: 1, properties: JSON.stringify({ name }) })
      .returning('id');
    const id = person?.id ?? 0;
    await db('person_distinct_ids').insert({ project_id: 1, distinct_id: name, person_id: id });
    const [cohort] = await db('cohorts')
      .insert({ project_id: 1, name: `cohort ${index}`, is_static: true })
      .returning('id');
    await db('cohort_members').insert({ cohort_id: cohort?.id ?? 0, person_id: id });
    await db('hash_key_overrides').insert({
      person_id: id,
      feature_flag_key: 'kept',
      hash_key: `${name}-before`,
    });
  }
  await db('groups').insert({
    project_id: 1,
    group_type_index: 2,
    group_key: 'acme',
    properties: JSON.stringify({ plan: 'pro' }),
  });
});
afterAll(() => database.destroy());

function aLookup(overrides: Partial<StoredLookup> = {}): StoredLookup {
  return {
    projectId: 1,
    distinctIds: ['ann'],
    groups: [],
    staticCohortIds: [],
    wantsOverrides: false,
    ...overrides,
  };
}

it('Finds a person, groups, memberships and kept identifiers together', async () => {
  const load = createStoredDataLoader(database.db);
  const found = await load(
    aLookup({
      distinctIds: ['ann', 'nobody', 'bob'],
      groups: [
        { index: 2, key: 'acme' },
        { index: 1, key: 'acme' },
      ],
      staticCohortIds: [1, 2],
      wantsOverrides: true,
    }),
  );
  expect(found.persons.map((person) => person?.properties ?? null)).toEqual([
    { name: 'ann' },
    null,
    { name: 'bob' },
  ]);
  expect([...(found.persons[0]?.cohortIds ?? [])]).toEqual([1]);
  expect(found.persons[2]?.overrides).toEqual(new Map([['kept', 'bob-before']]));
  expect(found.groups).toEqual(new Map([[2, { plan: 'pro' }]]));
});

it('Gives each of many concurrent look-ups its own answer, in far fewer queries', async () => {
  const queries: string[] = [];
  const db = createDb(database.connection, 4);
  const acquire = db.client.acquireConnection.bind(db.client);
  db.client.acquireConnection = async () => {
    queries.push('query');
    return acquire();
  };
  try {
    const load = createStoredDataLoader(db);
    const names = Array.from({ length: 300 }, (_, index) => ['ann', 'bob', 'nobody'][index % 3]);
    const found = await Promise.all(
      names.map((name, index) =>
        load(
          aLookup({
            distinctIds: [name ?? ''],
            ...(index % 2 === 0 ? { groups: [{ index: 2, key: 'acme' }] } : {}),
          }),
        ),
      ),
    );
    for (const [index, { persons, groups }] of found.entries()) {
      const name = names[index];
      expect(persons[0]?.properties ?? null).toEqual(name === 'nobody' ? null : { name });
      expect(groups.size).toBe(index % 2 === 0 ? 1 : 0);
    }
    expect(queries.length).toBeLessThan(10);
  } finally {
    await db.destroy();
  }
});

it('Does not mix projects up', async () => {
  const load = createStoredDataLoader(database.db);
  const { persons } = await load(aLookup({ projectId: 2 }));
  expect(persons).toEqual([null]);
});

it('Rejects with "unavailable" while the database is away, and works again afterwards', async () => {
  const away = createDb({ ...database.connection, host: '127.0.0.1', port: 1 });
  try {
    const load = createStoredDataLoader(away);
    await expect(load(aLookup())).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(load(aLookup())).rejects.toMatchObject({ kind: 'unavailable' });
  } finally {
    await away.destroy();
  }
});

it('Rejects with "unavailable" when the database does not answer any more, and works again', async () => {
  const proxy = await createStallingProxy(database.connection);
  const db = createDb(proxy.connection, 2);
  try {
    const load = createStoredDataLoader(db, 300);
    await load(aLookup());
    proxy.stall();
    await expect(load(aLookup())).rejects.toMatchObject({ kind: 'unavailable' });
    proxy.resume();
    expect((await load(aLookup())).persons).toMatchObject([{ properties: { name: 'ann' } }]);
  } finally {
    await db.destroy();
    await proxy.close();
  }
});
