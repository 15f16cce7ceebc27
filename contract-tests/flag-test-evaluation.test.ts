import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';
const PLAN = { key: 'plan', type: 'person', operator: 'exact', value: 'pro' };

let burgee: StartedBurgee;
let personId = '';
let flag: TestFlag;

beforeAll(async () => {
  burgee = await startBurgee();
  await burgee.request('POST', '/i/v0/e/', {
    body: {
      api_key: burgee.projectApiKey,
      event: '$set',
      distinct_id: 'ann',
      properties: { $set: { plan: 'pro', joined: '2026-01-10' } },
    },
  });
  const [person] = await burgee.db('persons').select('uuid');
  personId = person?.uuid ?? '';
  flag = await burgee.createFlag({
    key: 'tested',
    filters: {
      groups: [
        { properties: [{ ...PLAN, value: 'free' }], rollout_percentage: 100 },
        { properties: [PLAN], rollout_percentage: 0 },
        { properties: [PLAN], variant: 'b' },
        { properties: [] },
      ],
      multivariate: {
        variants: [
          { key: 'a', rollout_percentage: 100 },
          { key: 'b', rollout_percentage: 0 },
        ],
      },
      payloads: { b: '{"size": 1}' },
    },
  });
});

afterAll(async () => {
  await burgee.stop();
});

function test(tested: { readonly path: string }, body: object) {
  return burgee.api('POST', `${tested.path}test_evaluation/`, { body });
}

const condition = (index: number, parts: object) => ({
  index,
  matched: false,
  properties_matched: true,
  rollout_percentage: 100,
  rollout_excluded: false,
  ...parts,
});

const CONDITIONS = [
  condition(0, {
    properties_matched: false,
    variant: null,
    explanation: 'Properties did not match',
  }),
  condition(1, {
    rollout_percentage: 0,
    rollout_excluded: true,
    variant: null,
    explanation: 'Properties matched, but the rollout left this identifier out',
  }),
  condition(2, { matched: true, variant: 'b', explanation: 'Matched condition set 3' }),
  condition(3, {
    variant: 'a',
    explanation: 'Properties matched, but something else decided the flag',
  }),
];

function tested(value: string, matched: boolean) {
  return {
    ...PLAN,
    value,
    actual_value: 'pro',
    matched,
    explanation: matched ? 'Matched' : 'Did not match',
  };
}

describe('trying a flag on somebody', () => {
  const answer = {
    flag_key: 'tested',
    result: 'b',
    reason: 'condition_match',
    reason_description: 'Matched condition set 3',
    condition_index: 2,
    payload: '{"size": 1}',
    person_properties: { plan: 'pro', joined: '2026-01-10' },
    conditions: [
      { ...CONDITIONS[0], properties: [tested('free', false)] },
      { ...CONDITIONS[1], properties: [tested('pro', true)] },
      { ...CONDITIONS[2], properties: [tested('pro', true)] },
      { ...CONDITIONS[3], properties: [] },
    ],
  };

  it('by a distinct id tells the value, and what became of every condition', async () => {
    const reply = await test(flag, { distinct_id: 'ann' });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({ ...answer, evaluation_distinct_id: 'ann' });
  });

  it('by a person tells the same, and none of their distinct ids', async () => {
    const reply = await test(flag, { person_id: personId, distinct_id: null });
    expect(reply.body).toEqual({ ...answer, evaluation_distinct_id: null });
    expect(reply.text).not.toContain('"ann"');
  });

  it('works with somebody who was never seen', async () => {
    const reply = await test(flag, { distinct_id: 'nobody' });
    expect(reply.body).toMatchObject({
      result: 'a',
      condition_index: 3,
      person_properties: {},
      conditions: [{}, {}, { properties: [{ actual_value: null, matched: false }] }, {}],
    });
  });

  it('sees a change right away, and counts relative dates from the moment that is given', async () => {
    const properties = [{ key: 'joined', type: 'person', operator: 'is_date_after', value: '-7d' }];
    const recent = await burgee.createFlag({ filters: { groups: [{ properties }] } });
    const at = async (timestamp: string) =>
      pick((await test(recent, { distinct_id: 'ann', timestamp })).body, 'result');
    expect(await at('2026-01-12T00:00:00Z')).toBe(true);
    expect(await at('2026-02-12T00:00:00Z')).toBe(false);
  });

  it('passes over conditions for groups unless the group is given', async () => {
    await burgee.request('POST', '/i/v0/e/', {
      body: {
        api_key: burgee.projectApiKey,
        event: '$groupidentify',
        distinct_id: 'ann',
        properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 7 } },
      },
    });
    const properties = [
      { key: 'size', type: 'group', group_type_index: 0, operator: 'gt', value: '5' },
    ];
    const forGroups = await burgee.createFlag({
      filters: { aggregation_group_type_index: 0, groups: [{ properties }] },
    });
    const without = await test(forGroups, { distinct_id: 'ann' });
    expect(without.body).toMatchObject({
      result: false,
      reason: 'no_group_type',
      conditions: [
        {
          properties_matched: false,
          explanation: 'Passed over, because no group of its type was given',
        },
      ],
    });
    const within = await test(forGroups, { distinct_id: 'ann', groups: { company: 'acme' } });
    expect(within.body).toMatchObject({
      result: true,
      conditions: [{ properties: [{ actual_value: 7, matched: true }] }],
    });
  });

  it('tells a flag that is switched off as off', async () => {
    const off = await burgee.createFlag({ active: false });
    expect((await test(off, { distinct_id: 'ann' })).body).toMatchObject({
      result: false,
      reason: 'flag_disabled',
      condition_index: null,
      conditions: [],
    });
  });

  it('stores nothing', async () => {
    const continuous = await burgee.createFlag({
      ensure_experience_continuity: true,
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    await test(continuous, { distinct_id: 'ann' });
    expect(await burgee.db('hash_key_overrides').select('*')).toEqual([]);
  });

  it.each<[object, string | null, string]>([
    [{}, null, 'Either distinct_id or person_id must be provided'],
    [
      { distinct_id: '', person_id: null },
      null,
      'Either distinct_id or person_id must be provided',
    ],
    [
      { distinct_id: 'ann', person_id: '00000000-0000-4000-8000-000000000000' },
      null,
      'Cannot provide both distinct_id and person_id',
    ],
    [{ person_id: 'ann' }, 'person_id', 'Not a valid uuid.'],
    [{ distinct_id: 7 }, 'distinct_id', 'Not a valid string.'],
    [{ distinct_id: 'ann', groups: 'acme' }, 'groups', expect.stringContaining('dictionary')],
    [{ distinct_id: 'ann', timestamp: 'now' }, 'timestamp', expect.stringContaining('Datetime')],
  ])('refuses %j', async (body, attr, detail) => {
    const reply = await test(flag, body);
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', attr, detail });
  });

  it('refuses deleted flags and those with encrypted payloads', async () => {
    const gone = await burgee.createFlag();
    await burgee.api('PATCH', gone.path, { body: { deleted: true } });
    expect((await test(gone, { distinct_id: 'ann' })).status).toBe(400);
    const secret = await burgee.createFlag({
      is_remote_configuration: true,
      has_encrypted_payloads: true,
      filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '"x"' } },
    });
    expect((await test(secret, { distinct_id: 'ann' })).status).toBe(400);
  });

  it('knows no person and no flag of another project', async () => {
    const unknown = { person_id: '00000000-0000-4000-8000-000000000000' };
    const person = await test(flag, unknown);
    expect(person.status).toBe(404);
    expect(person.body).toMatchObject({ detail: 'Person not found.' });
    const missing = await test({ path: `${FLAGS}999999/` }, { distinct_id: 'ann' });
    expect(missing.status).toBe(404);
  });
});

describe('a detailed analysis', () => {
  const analyse = (path: string, query: object) =>
    burgee.request('POST', path, {
      query: { v: '2', ...query },
      body: { token: burgee.projectApiKey, distinct_id: 'ann', flag_keys: ['tested'] },
    });

  it('adds what became of each condition, without filters and stored values', async () => {
    const reply = await analyse('/flags', { detailed_analysis: 'true' });
    expect(reply.status, reply.text).toBe(200);
    const plain = await analyse('/flags', {});
    const flagOf = (body: unknown) => pick(body, 'flags', 'tested');
    expect(flagOf(reply.body)).toEqual({
      ...Object(flagOf(plain.body)),
      conditions: CONDITIONS,
    });
    expect(flagOf(plain.body)).not.toHaveProperty('conditions');
    expect(reply.text).not.toContain('"plan"');
  });

  it('is there on the older path in its newest shape', async () => {
    const reply = await analyse('/decide', { v: '4', detailed_analysis: '' });
    expect(pickList(reply.body, 'flags', 'tested', 'conditions')).toHaveLength(4);
    const older = await analyse('/decide', { v: '3', detailed_analysis: 'true' });
    expect(pick(older.body, 'featureFlags')).toEqual({ tested: 'b' });
  });

  it('stores nothing', async () => {
    const { key } = await burgee.createFlag({
      ensure_experience_continuity: true,
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    const body = { distinct_id: 'ann', $anon_distinct_id: 'before', flag_keys: [key] };
    for (const v of ['2', '1']) await burgee.evaluate(body, { v, detailed_analysis: 'true' });
    expect(await burgee.db('hash_key_overrides').select('*')).toEqual([]);
  });
});
