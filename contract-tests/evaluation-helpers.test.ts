import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';
const REASONS = `${FLAGS}evaluation_reasons/`;
const MINE = `${FLAGS}my_flags/`;
const person = (key: string, value: unknown) => ({ key, type: 'person', operator: 'exact', value });

let burgee: StartedBurgee;
let plain: TestFlag;

beforeAll(async () => {
  burgee = await startBurgee();
  plain = await burgee.createFlag({ key: 'plain' });
  await burgee.createFlag({ key: 'off', filters: { groups: [{ rollout_percentage: 0 }] } });
  await burgee.createFlag({
    key: 'colour',
    filters: {
      groups: [
        { properties: [person('plan', 'pro')], rollout_percentage: 100 },
        { properties: [person('plan', 'free')], rollout_percentage: 100, variant: 'red' },
      ],
      multivariate: {
        variants: [
          { key: 'red', rollout_percentage: 0 },
          { key: 'blue', rollout_percentage: 100 },
        ],
      },
    },
  });
  await burgee.createFlag({
    key: 'for-companies',
    filters: {
      aggregation_group_type_index: 0,
      groups: [{ properties: [], rollout_percentage: 100 }],
    },
  });
  await burgee.createFlag({ key: 'asleep', active: false });
  await burgee.createFlag({ key: 'client-only', evaluation_runtime: 'client' });
  await burgee.createFlag({ key: 'server-only', evaluation_runtime: 'server' });
  await burgee.createFlag({ key: 'web', tags: ['web'], evaluation_tags: ['web'] });
  const gone = await burgee.createFlag({ key: 'gone' });
  await burgee.api('PATCH', gone.path, { body: { deleted: true } });
  await burgee.createFlag({
    key: 'secret',
    is_remote_configuration: true,
    has_encrypted_payloads: true,
    filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '"hidden"' } },
  });
  await capture({ event: '$set', distinct_id: 'pro', $set: { plan: 'pro' } });
  await capture({ event: '$set', distinct_id: 'free', $set: { plan: 'free' } });
  const properties = { $group_type: 'company', $group_key: 'acme', $group_set: {} };
  await capture({ event: '$groupidentify', distinct_id: 'pro', properties });
});

afterAll(async () => {
  await burgee.stop();
});

async function capture(event: object): Promise<void> {
  const body = { api_key: burgee.projectApiKey, ...event };
  expect((await burgee.request('POST', '/i/v0/e/', { body })).status).toBe(200);
}

const matched = (index: number) => ({
  reason: 'condition_match',
  condition_index: index,
  description: `Matched condition set ${index + 1}`,
});

describe('the reasons of an evaluation', () => {
  it('tell the value of every flag, whatever its runtime and context, and why', async () => {
    const reply = await burgee.api('GET', REASONS, { query: { distinct_id: 'free' } });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({
      plain: { value: true, evaluation: matched(0) },
      off: {
        value: false,
        evaluation: {
          reason: 'out_of_rollout_bound',
          condition_index: 0,
          description: 'Out of rollout bound',
        },
      },
      colour: { value: 'red', evaluation: matched(1) },
      'for-companies': {
        value: false,
        evaluation: {
          reason: 'no_group_type',
          condition_index: 0,
          description: 'No group type',
        },
      },
      'client-only': { value: true, evaluation: matched(0) },
      'server-only': { value: true, evaluation: matched(0) },
      web: { value: true, evaluation: matched(0) },
      asleep: { value: false, evaluation: { reason: 'disabled', condition_index: null } },
    });
  });

  it('look up what is stored about the person', async () => {
    for (const [distinct_id, value, reason] of [
      ['pro', 'blue', 'condition_match'],
      ['free', 'red', 'condition_match'],
      ['nobody', false, 'no_condition_match'],
    ]) {
      const reply = await burgee.api('GET', REASONS, { query: { distinct_id: `${distinct_id}` } });
      expect(pick(reply.body, 'colour')).toMatchObject({ value, evaluation: { reason } });
    }
  });

  it('take groups as JSON text', async () => {
    const query = { distinct_id: 'p', groups: '{"company":"acme"}' };
    const reply = await burgee.api('GET', REASONS, { query });
    expect(pick(reply.body, 'for-companies')).toEqual({ value: true, evaluation: matched(0) });
    for (const groups of ['{}', '{"team":"a"}', '{"company":""}']) {
      const without = await burgee.api('GET', REASONS, { query: { distinct_id: 'p', groups } });
      expect(pick(without.body, 'for-companies', 'value')).toBe(false);
    }
  });

  it('agree with what SDKs are told', async () => {
    for (const distinct_id of ['pro', 'free', 'nobody']) {
      const { body } = await burgee.evaluate({ distinct_id, evaluation_runtime: 'all' });
      const reasons = await burgee.api('GET', REASONS, { query: { distinct_id } });
      for (const [key, flag] of Object.entries(Object(pick(body, 'flags')))) {
        expect(pick(reasons.body, key, 'value')).toBe(
          pick(flag, 'variant') ?? pick(flag, 'enabled'),
        );
        expect(pick(reasons.body, key, 'evaluation', 'reason')).toBe(pick(flag, 'reason', 'code'));
      }
    }
  });

  it.each<[Record<string, string>, string, string, string]>([
    [{}, 'distinct_id', 'required', 'This field is required.'],
    [{ groups: '{' }, 'distinct_id', 'required', 'This field is required.'],
    [{ distinct_id: '' }, 'distinct_id', 'blank', 'This field may not be blank.'],
    [
      { distinct_id: 'p', groups: '{' },
      'groups',
      'invalid_input',
      'Invalid JSON in groups parameter',
    ],
    [
      { distinct_id: 'p', groups: 'company' },
      'groups',
      'invalid_input',
      'Invalid JSON in groups parameter',
    ],
    [{ distinct_id: 'p', groups: '[]' }, 'groups', 'invalid_input', 'groups must be a JSON object'],
    [
      { distinct_id: 'p', groups: 'null' },
      'groups',
      'invalid_input',
      'groups must be a JSON object',
    ],
    [{ distinct_id: 'p', groups: '5' }, 'groups', 'invalid_input', 'groups must be a JSON object'],
  ])('are refused with 400 for %j', async (query, attr, code, detail) => {
    const reply = await burgee.api('GET', REASONS, { query });
    expect([reply.status, reply.body]).toEqual([
      400,
      { type: 'validation_error', code, detail, attr },
    ]);
  });
});

describe('the flags of the caller', () => {
  it('are told newest first in the shape of definitions, inactive ones as off', async () => {
    const reply = await burgee.api('GET', MINE);
    expect(reply.status, reply.text).toBe(200);
    const values = pickList(reply.body).map((entry) => [
      pick(entry, 'feature_flag', 'key'),
      pick(entry, 'value'),
    ]);
    expect(values).toEqual([
      ['web', true],
      ['server-only', true],
      ['client-only', true],
      ['asleep', false],
      ['for-companies', false],
      ['colour', false],
      ['off', false],
      ['plain', true],
    ]);
    expect(pickList(reply.body).at(-1)).toEqual({
      feature_flag: {
        id: plain.id,
        team_id: 1,
        name: '',
        key: 'plain',
        filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
        deleted: false,
        active: true,
        ensure_experience_continuity: false,
        has_encrypted_payloads: false,
        version: 1,
        evaluation_runtime: 'all',
        bucketing_identifier: 'distinct_id',
        evaluation_tags: [],
        evaluation_contexts: [],
      },
      value: true,
    });
  });

  it('are decided for the user whose key is used, and for the groups that are named', async () => {
    const { key, email } = await burgee.createKey({ scopes: ['feature_flag:read'] });
    const user = await burgee.db('users').where({ email }).first();
    await capture({ event: '$set', distinct_id: user?.distinct_id, $set: { plan: 'free' } });
    const query = { groups: '{"company":"acme"}' };
    const reply = await burgee.request('GET', MINE, { key, query });
    const readValue = (flagKey: string) =>
      pick(
        pickList(reply.body).find((entry) => pick(entry, 'feature_flag', 'key') === flagKey),
        'value',
      );
    expect([readValue('colour'), readValue('for-companies')]).toEqual(['red', true]);
  });

  it.each([
    ['{', 'Invalid JSON in groups parameter'],
    ['"company"', 'groups must be a JSON object'],
    ['[{}]', 'groups must be a JSON object'],
  ])('are refused with 400 for the groups %s', async (groups, detail) => {
    const reply = await burgee.api('GET', MINE, { query: { groups } });
    expect([reply.status, reply.body]).toEqual([
      400,
      { type: 'validation_error', code: 'invalid_input', detail, attr: 'groups' },
    ]);
  });

  it('are an empty list in a project without flags', async () => {
    const project = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [project.id] });
    const reply = await burgee.request(
      'GET',
      `/api/projects/${project.id}/feature_flags/my_flags`,
      {
        key,
      },
    );
    expect([reply.status, reply.text]).toEqual([200, '[]']);
  });
});

describe('both', () => {
  it('are for personal keys with the scope to read flags', async () => {
    const narrow = await burgee.createKey({ scopes: ['person:read'] });
    const wide = await burgee.createKey({ scopes: ['feature_flag:read'] });
    const query = { distinct_id: 'p' };
    for (const path of [REASONS, MINE]) {
      const statuses = [];
      for (const key of [null, burgee.projectSecretKey, narrow.key, wide.key]) {
        statuses.push((await burgee.request('GET', path, { key, query })).status);
      }
      expect([path, ...statuses]).toEqual([path, 401, 401, 403, 200]);
    }
  });

  it('store nothing, not even the first identifier of a person', async () => {
    await burgee.createFlag({
      key: 'steady',
      ensure_experience_continuity: true,
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    await burgee.api('GET', REASONS, { query: { distinct_id: 'pro' } });
    await burgee.api('GET', MINE);
    expect(await burgee.db('hash_key_overrides')).toEqual([]);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
