import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { all, COHORTS, createCohortWorld, person, within } from './cohort-world.ts';
import type { HttpReply } from './http.ts';
import { pickNumber } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const BLAST_RADIUS = '/api/projects/1/feature_flags/user_blast_radius/';

let burgee: StartedBurgee;
let listId: number;
let dynamicId: number;

beforeAll(async () => {
  burgee = await startBurgee();
  const world = createCohortWorld(burgee);
  for (const [id, properties] of [
    ['ann', { plan: 'pro', email: 'ann@example.com', age: 31 }],
    ['bob', { plan: 'Pro', email: 'bob@example.com', age: '17' }],
    ['eve', { plan: 'free', app: '2.1.0' }],
    ['joe', {}],
  ] as const) {
    await world.capture('seen', id, { $set: properties });
  }
  for (const [key, seats] of [
    ['acme', 10],
    ['tiny', 1],
  ]) {
    const $group = { $group_type: 'company', $group_key: key, $group_set: { seats } };
    await world.capture('$groupidentify', 'ann', $group);
  }
  const list = await world.createStatic();
  const body = { distinct_ids: ['ann', 'joe'] };
  await burgee.api('PATCH', `${list.path}add_persons_to_static_cohort/`, { body });
  listId = list.id;
  dynamicId = (await world.create({ filters: all(person('plan', 'pro'), within(listId)) })).id;
});

afterAll(async () => {
  expect(burgee.errors()).toEqual([]);
  await burgee.stop();
});

const count = (body: unknown): Promise<HttpReply> => burgee.api('POST', BLAST_RADIUS, { body });

describe('the blast radius', () => {
  it('has its two numbers under both of their names', async () => {
    const condition = { properties: [person('plan', 'pro')], rollout_percentage: 5 };
    const reply = await count({ condition, group_type_index: null });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({ users_affected: 2, total_users: 4, affected: 2, total: 4 });
  });

  it.each<[string, () => object | null, number]>([
    ['null', () => null, 4],
    ['no filter', () => ({}), 4],
    ['null as filters', () => ({ properties: null }), 4],
    ['numbers', () => ({ properties: [person('age', 18, { operator: 'gte' })] }), 1],
    [
      'the older name of an operator',
      () => ({ properties: [person('age', 17, { operator: 'max' })] }),
      1,
    ],
    [
      'what is not set',
      () => ({ properties: [person('plan', '', { operator: 'is_not_set' })] }),
      1,
    ],
    ['a pattern', () => ({ properties: [person('email', '^a.*com$', { operator: 'regex' })] }), 1],
    ['a version', () => ({ properties: [person('app', '2.0', { operator: 'semver_gt' })] }), 1],
    ['an id', () => ({ properties: [person('distinct_id', 'eve')] }), 1],
    ['a list of persons', () => ({ properties: [within(listId)] }), 2],
    ['who is not in it', () => ({ properties: [within(listId, { operator: 'not_in' })] }), 2],
    ['a dynamic cohort', () => ({ properties: [within(dynamicId)] }), 1],
    ['two filters', () => ({ properties: [within(listId), person('plan', 'free')] }), 0],
  ])('counts the persons of a condition with %s', async (_name, condition, affected) => {
    const reply = await count({ condition: condition() });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({ affected, total: 4 });
  });

  it('counts groups of one type', async () => {
    const filter = { key: 'seats', type: 'group', group_type_index: 0, operator: 'gt', value: 5 };
    const reply = await count({ condition: { properties: [filter] }, group_type_index: 0 });
    expect(reply.body).toMatchObject({ affected: 1, total: 2 });
    const byKey = { key: '$group_key', type: 'group', value: 'tiny' };
    const named = await count({ condition: { properties: [byKey] }, group_type_index: 0 });
    expect(named.body).toMatchObject({ affected: 1, total: 2 });
    const none = await count({ condition: {}, group_type_index: 3 });
    expect(none.body).toMatchObject({ affected: 0, total: 0 });
  });

  it.each<[string, unknown, string | null, string]>([
    ['no condition', {}, null, 'Missing condition for which to get blast radius'],
    [
      'a condition that is none',
      { condition: 5 },
      'condition',
      'Expected a dictionary of items but got type "int".',
    ],
    [
      'a flag',
      {
        condition: {
          properties: [{ key: '1', type: 'flag', operator: 'flag_evaluates_to', value: true }],
        },
      },
      'filters',
      'These filters cannot be evaluated.',
    ],
    [
      'an unknown cohort',
      { condition: { properties: [within(99_999)] } },
      'filters',
      'These filters cannot be evaluated.',
    ],
    [
      'a person among groups',
      { condition: { properties: [person('a', 'b')] }, group_type_index: 0 },
      'filters',
      'Filters are not valid (can only use group properties)',
    ],
    [
      'an unknown operator',
      { condition: { properties: [person('a', 'b', { operator: 'like' })] } },
      'filters',
      'Invalid operator: like',
    ],
    [
      'a bad group type',
      { condition: {}, group_type_index: 5 },
      'group_type_index',
      'Ensure this value is less than or equal to 4.',
    ],
    [
      'a NUL character',
      { condition: { properties: [person('a', '\0')] } },
      'condition',
      'Null characters are not allowed.',
    ],
  ])('is refused with %s', async (_name, body, attr, detail) => {
    const reply = await count(body);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', attr, detail });
  });

  it('knows nothing of other projects', async () => {
    const other = await burgee.createProject('Others');
    const key = await burgee.createKey({ memberOf: [other.id] });
    const reply = await burgee.request(
      'POST',
      `/api/projects/${other.id}/feature_flags/user_blast_radius/`,
      { key: key.key, body: { condition: {} } },
    );
    expect(reply.body).toMatchObject({ affected: 0, total: 0 });
  });

  it('needs no right to cohorts to count with them, and no right to write', async () => {
    const key = await burgee.createKey({ scopes: ['feature_flag:read'] });
    const body = { condition: { properties: [within(listId)] } };
    const reply = await burgee.request('POST', BLAST_RADIUS, { key: key.key, body });
    expect(pickNumber(reply.body, 'affected')).toBe(2);
    expect((await burgee.request('GET', COHORTS, { key: key.key })).status).toBe(403);
  });
});
