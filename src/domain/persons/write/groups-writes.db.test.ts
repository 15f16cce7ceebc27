import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { findStoredProperties } from '../../../../test/stored-properties.ts';
import type { JsonObject } from '../../common/json.ts';
import { getPersonByDistinctId, listGroupTypes } from '../persons-queries.ts';
import {
  applyGroupChanges,
  assignGroupTypes,
  loadGroupTypes,
  readGroupChange,
} from './groups-writes.ts';
import { applyPersonChanges, lockPersons, readPersonChange } from './persons-writes.ts';

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());
beforeEach(async () => {
  const [project] = await database
    .db('projects')
    .insert({ name: 'p', api_token: `phc_${Math.random()}` })
    .returning('id');
  projectId = project?.id ?? 0;
});

function apply(...events: { event?: string; properties: JsonObject; at?: string }[]) {
  return database.db.transaction(async (tx) => {
    await lockPersons(tx, [projectId]);
    const entries = events.map(({ event = 'x', properties, at = '2026-01-01' }) => {
      const timestamp = new Date(at);
      const change = readGroupChange({ event, distinctId: 'u', properties, timestamp });
      return { projectId, timestamp, change };
    });
    const types = await assignGroupTypes(tx, entries, await loadGroupTypes(tx, entries));
    const eventProperties = await applyGroupChanges(tx, entries, types);
    return { eventProperties, projectIdsWithNewTypes: types.projectIdsWithNewTypes };
  });
}

function describeGroup(type: string, key: string, $group_set: JsonObject, at = '2026-01-01') {
  const properties = { $group_type: type, $group_key: key, $group_set };
  return { event: '$groupidentify', properties, at };
}

function findGroup(index: number, key: string): Promise<JsonObject | undefined> {
  return findStoredProperties(database.db, projectId, {
    distinctId: 'nobody',
    groups: [{ index, key }],
  }).then(({ groups }) => groups.get(index));
}

it('merges group properties shallowly, the last arrival winning per key', async () => {
  await apply(describeGroup('company', 'acme', { a: 1 }));
  await apply(describeGroup('company', 'acme', { b: 2 }));
  await apply(
    describeGroup('company', 'acme', { a: 2 }),
    describeGroup('company', 'acme', { a: 3 }, '2025-06-01'),
  );
  expect(await findGroup(0, 'acme')).toEqual({ a: 3, b: 2 });
  const rows = await database.db('groups').where({ project_id: projectId });
  expect(rows).toMatchObject([{ created_at: new Date('2025-06-01') }]);
});

it('assigns indexes in order of first sight and ignores the sixth type', async () => {
  const first = await apply(
    { properties: { $groups: { company: 'acme', team: 7 } } },
    { properties: {} },
    describeGroup('org', 'o', {}),
  );
  expect(first).toEqual({
    eventProperties: [{ $group_0: 'acme', $group_1: '7' }, null, null],
    projectIdsWithNewTypes: [projectId],
  });
  const second = await apply({
    properties: { $groups: { d: '1', team: '8', e: '2', f: '3' } },
  });
  expect(second).toEqual({
    eventProperties: [{ $group_3: '1', $group_1: '8', $group_4: '2' }],
    projectIdsWithNewTypes: [projectId],
  });
  const third = await apply(describeGroup('f', 'x', { a: 1 }), {
    properties: { $groups: { company: 'b' } },
  });
  expect(third.projectIdsWithNewTypes).toEqual([]);
  expect(await listGroupTypes(database.db, projectId)).toEqual(
    ['company', 'team', 'org', 'd', 'e'].map((groupType, index) => ({ index, groupType })),
  );
  expect(await database.db('groups').where({ project_id: projectId })).toHaveLength(1);
});

it('creates no group for a membership', async () => {
  await apply({ properties: { $groups: { company: 'acme' } } });
  expect(await findGroup(0, 'acme')).toBeUndefined();
});

it('gives two types that race for the last index one each, or one none', async () => {
  await apply({ properties: { $groups: { a: '1', b: '1', c: '1', d: '1' } } });
  const racers = await Promise.all(
    ['x', 'y', 'x', 'y'].map((type) => apply({ properties: { $groups: { [type]: '1' } } })),
  );
  expect(racers.flatMap((racer) => racer.projectIdsWithNewTypes)).toEqual([projectId]);
  const types = await listGroupTypes(database.db, projectId);
  expect(types.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
});

it('finds a person and groups in one answer, by the ids as clients send them', async () => {
  const longId = 'é'.repeat(250);
  const longKey = 'k'.repeat(500);
  await database.db.transaction(async (tx) => {
    const event = { event: 'x', distinctId: 'é'.repeat(200), properties: { $set: { a: 1 } } };
    const timestamp = new Date('2026-01-01');
    const change = readPersonChange({ ...event, timestamp });
    await applyPersonChanges(tx, [{ projectId, distinctId: event.distinctId, timestamp, change }]);
  });
  await apply(describeGroup('company', longKey, { b: 2 }), describeGroup('team', 't', { c: 3 }));
  const person = await getPersonByDistinctId(database.db, projectId, longId);
  const found = await findStoredProperties(database.db, projectId, {
    distinctId: longId,
    groups: [
      { index: 0, key: longKey },
      { index: 1, key: 't\0' },
      { index: 1, key: 't' },
    ],
  });
  expect(found).toEqual({
    person: { id: person?.id, properties: { a: 1 }, createdAt: new Date('2026-01-01') },
    groups: new Map([
      [0, { b: 2 }],
      [1, { c: 3 }],
    ]),
  });
});

it('finds nothing of strangers and of other projects', async () => {
  await apply(describeGroup('company', 'acme', { a: 1 }));
  for (const groups of [[], [{ index: 0, key: 'acme' }]]) {
    const found = await findStoredProperties(database.db, projectId + 1, {
      distinctId: 'nobody\0',
      groups,
    });
    expect(found).toEqual({ person: null, groups: new Map() });
  }
});
