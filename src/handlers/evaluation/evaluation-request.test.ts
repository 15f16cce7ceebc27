import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../domain/common/json.ts';
import { readEvaluationInput } from './evaluation-request.ts';

const read = (body: JsonObject, headers = {}) => readEvaluationInput(body, headers);
const contextOf = (body: JsonObject, headers = {}) => read(body, headers).contextFor('u');

describe('the token', () => {
  it.each<[JsonObject, string | null]>([
    [{ token: 'a' }, 'a'],
    [{ api_key: 'a' }, 'a'],
    [{ token: 'a', api_key: 'b' }, 'a'],
    [{ token: '', api_key: 'b' }, 'b'],
    [{ token: '' }, null],
    [{}, null],
  ])('of %j is %j', (body, token) => {
    expect(read(body).token).toBe(token);
  });
});

describe('the distinct id', () => {
  it.each<[JsonObject, string | null]>([
    [{ distinct_id: 'u' }, 'u'],
    [{ distinct_id: '' }, ''],
    [{ distinct_id: 123 }, '123'],
    [{ distinct_id: 123.45 }, '123.45'],
    [{}, null],
  ])('of %j is %j', (body, distinctId) => {
    expect(read(body).distinctId).toBe(distinctId);
  });

  it('of more than 200 bytes is cut to 200 characters, never through one', () => {
    expect(read({ distinct_id: 'x'.repeat(200) }).distinctId).toHaveLength(200);
    expect(read({ distinct_id: 'x'.repeat(201) }).distinctId).toBe('x'.repeat(200));
    expect(read({ distinct_id: '😀'.repeat(201) }).distinctId).toBe('😀'.repeat(200));
    expect(read({ distinct_id: 'ü'.repeat(101) }).distinctId).toBe('ü'.repeat(101));
  });
});

describe('the flags that are asked for', () => {
  it.each<[JsonObject, readonly string[] | null]>([
    [{ flag_keys_to_evaluate: ['a'] }, ['a']],
    [{ flag_keys_to_evaluate: [] }, []],
    [{}, null],
  ])('in %j are %j', (body, keys) => {
    expect(read(body).flagKeys).toEqual(keys);
  });

  it('are none when flags are disabled', () => {
    expect(read({ disable_flags: true }).isDisabled).toBe(true);
    expect(read({ disable_flags: false }).isDisabled).toBe(false);
    expect(read({}).isDisabled).toBe(false);
  });
});

describe('the context', () => {
  it('has what the body says', () => {
    const body = {
      person_properties: { email: 'ann@example.com' },
      groups: { company: 'acme', team: 7 },
      group_properties: { company: { plan: 'pro' } },
      $device_id: 'd',
      $anon_distinct_id: 'anonymous',
      evaluation_contexts: ['web'],
      evaluation_runtime: 'client',
    };
    expect(contextOf(body)).toEqual({
      distinctId: 'u',
      deviceId: 'd',
      anonDistinctId: 'anonymous',
      personProperties: { email: 'ann@example.com' },
      groups: { company: 'acme', team: 7 },
      groupProperties: { company: { plan: 'pro' } },
      runtime: 'client',
      evaluationContexts: ['web'],
      stored: null,
    });
  });

  it('is empty where the body says nothing', () => {
    expect(contextOf({})).toEqual({
      distinctId: 'u',
      deviceId: null,
      anonDistinctId: null,
      personProperties: {},
      groups: {},
      groupProperties: {},
      runtime: null,
      evaluationContexts: [],
      stored: null,
    });
  });

  it.each<[JsonObject, string | null]>([
    [{ $device_id: '', person_properties: { $device_id: 'p' } }, 'p'],
    [{ $device_id: 'd', person_properties: { $device_id: 'p' } }, 'd'],
    [{ person_properties: { $device_id: 7 } }, null],
  ])('has for %j the device %j', (body, deviceId) => {
    expect(contextOf(body).deviceId).toBe(deviceId);
  });

  it('leaves out properties of groups that are no objects', () => {
    const body = { group_properties: { company: { plan: 'pro' } }, $group_properties: 'x' };
    expect(contextOf(body).groupProperties).toEqual({ company: { plan: 'pro' } });
    expect(contextOf({ $group_properties: { a: 'x', b: null } }).groupProperties).toEqual({});
  });

  it('guesses the kind of client from its headers', () => {
    expect(contextOf({}, { 'user-agent': 'posthog-node/5.0.0' }).runtime).toBe('server');
  });
});
