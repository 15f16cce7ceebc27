import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

let burgee: StartedBurgee;
let plain: TestFlag;

function person(key: string, value: unknown, operator = 'exact') {
  return { key, type: 'person', operator, value };
}

beforeAll(async () => {
  burgee = await startBurgee();
  plain = await burgee.createFlag({ key: 'plain' });
  await burgee.createFlag({
    key: 'off',
    filters: { groups: [{ properties: [], rollout_percentage: 0 }] },
  });
  await burgee.createFlag({
    key: 'colour',
    filters: {
      groups: [
        { properties: [person('plan', 'pro')], rollout_percentage: 100, variant: 'red' },
        { properties: [person('age', '17', 'gt')], rollout_percentage: 100 },
      ],
      multivariate: {
        variants: [
          { key: 'red', rollout_percentage: 0 },
          { key: 'blue', rollout_percentage: 100 },
        ],
      },
      payloads: { red: '{"hex":"f00"}', blue: '"bluish"' },
    },
  });
  await burgee.createFlag({ key: 'inactive', active: false });
  await burgee.createFlag({ key: 'no-condition', filters: undefined });
  await burgee.createFlag({ key: 'client-only', evaluation_runtime: 'client' });
});

afterAll(async () => {
  await burgee.stop();
});

const UUID = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
);

function described(flag: TestFlag, value: object) {
  return {
    key: flag.key,
    metadata: {
      id: flag.id,
      version: 1,
      description: null,
      payload: null,
      has_experiment: false,
    },
    ...value,
  };
}

describe('the reply to an evaluation', () => {
  it('has a value, a reason and metadata for every active flag', async () => {
    const reply = await burgee.evaluate({ evaluation_runtime: 'server' });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.body).toMatchObject({
      errorsWhileComputingFlags: false,
      requestId: UUID,
      evaluatedAt: expect.any(Number),
    });
    const flags = pick(reply.body, 'flags');
    expect(Object.keys(Object(flags)).toSorted()).toEqual([
      'colour',
      'no-condition',
      'off',
      'plain',
    ]);
    expect(pick(flags, 'plain')).toEqual(
      described(plain, {
        enabled: true,
        variant: null,
        reason: {
          code: 'condition_match',
          condition_index: 0,
          description: 'Matched condition set 1',
        },
      }),
    );
    expect(pick(flags, 'off', 'reason')).toEqual({
      code: 'out_of_rollout_bound',
      condition_index: 0,
      description: 'Out of rollout bound',
    });
    expect(pick(flags, 'colour', 'reason')).toEqual({
      code: 'no_condition_match',
      condition_index: 1,
      description: 'No matching condition set',
    });
    expect(pick(flags, 'no-condition', 'reason')).toEqual({
      code: 'no_group_type',
      condition_index: null,
      description: 'No group type',
    });
  });

  it('has the variant of the condition or of the draw, with its payload', async () => {
    const ask = async (person_properties: object) =>
      pick((await burgee.evaluate({ person_properties })).body, 'flags', 'colour');
    expect(await ask({ plan: 'pro' })).toMatchObject({
      enabled: true,
      variant: 'red',
      metadata: { payload: '{"hex":"f00"}' },
      reason: { condition_index: 0 },
    });
    expect(await ask({ age: 18 })).toMatchObject({
      enabled: true,
      variant: 'blue',
      metadata: { payload: '"bluish"' },
      reason: { condition_index: 1, description: 'Matched condition set 2' },
    });
  });

  it.each(['1', '0', '-3', 'x', '1.9'])('has the older shape for v=%s', async (v) => {
    const body = { person_properties: { plan: 'pro' }, evaluation_runtime: 'server' };
    const reply = await burgee.evaluate(body, { v });
    expect(reply.body).toEqual({
      errorsWhileComputingFlags: false,
      featureFlags: { plain: true, off: false, colour: 'red', 'no-condition': false },
      featureFlagPayloads: { colour: '{"hex":"f00"}' },
      requestId: UUID,
      evaluatedAt: expect.any(Number),
    });
  });

  it('has the newer shape for v=2, v=3 and without v', async () => {
    for (const query of [{ v: '2' }, { v: '3' }, { v: '' }, {}]) {
      expect(pick((await burgee.evaluate({}, query)).body, 'flags', 'plain')).toBeDefined();
    }
  });

  it('carries the id of the request if that is a UUID', async () => {
    const id = '3b4f8c1e-5d2a-4c3b-9f0e-7a6d5c4b3a21';
    const ask = (given: string) =>
      burgee.request('POST', '/flags', {
        headers: { 'x-request-id': given },
        body: { token: burgee.projectApiKey, distinct_id: 'p' },
      });
    const reply = await ask(id);
    expect(pick(reply.body, 'requestId')).toBe(id);
    expect(reply.headers['x-request-id']).toBe(id);
    expect(pick((await ask('no uuid')).body, 'requestId')).toEqual(UUID);
  });

  it('leaves out flags for another kind of SDK, and those that were not asked for', async () => {
    const keysFor = async (body: object, headers: Record<string, string> = {}) => {
      const sent = { token: burgee.projectApiKey, distinct_id: 'p', ...body };
      const reply = await burgee.request('POST', '/flags', { body: sent, headers });
      return Object.keys(Object(pick(reply.body, 'flags')));
    };
    expect(await keysFor({ evaluation_runtime: 'client' })).toContain('client-only');
    expect(await keysFor({}, { 'user-agent': 'posthog-python/7.0.0' })).not.toContain(
      'client-only',
    );
    expect(await keysFor({}, { 'user-agent': 'Mozilla/5.0' })).toContain('client-only');
    expect(await keysFor({ flag_keys_to_evaluate: ['off', 'unknown'] })).toEqual(['off']);
    expect(await keysFor({ flag_keys: ['off'] })).toEqual(['off']);
    expect(await keysFor({ flag_keys_to_evaluate: [] })).toEqual([]);
    expect(await keysFor({ disable_flags: true, distinct_id: null })).toEqual([]);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
