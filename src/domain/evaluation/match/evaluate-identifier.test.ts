import { describe, expect, it } from 'vitest';
import { aCondition, aStored, evaluateOne } from '../../../../test/builders.ts';
import type { JsonObject, JsonValue } from '../../common/json.ts';
import type { FlagDefinition } from '../model/definitions.ts';

const COMPANY = { groupTypes: [{ index: 0, name: 'company' }] };

describe('feature enrollment', () => {
  const filters = { feature_enrollment: true, groups: [], payloads: { true: '"p"' } };
  const enroll = (value: JsonValue) =>
    evaluateOne({ filters }, { personProperties: { '$feature_enrollment/a-flag': value } });

  it.each<[JsonValue, boolean]>([
    [true, true],
    ['true', true],
    ['TRUE', false],
    [false, false],
    ['false', false],
    [null, false],
    [1, false],
  ])('%j means enabled %s, with the payload either way', (value, expected) => {
    expect([enroll(value).enabled, enroll(value).payload]).toEqual([expected, '"p"']);
    expect(enroll(value).reason).toBe('super_condition_value');
  });

  it('goes on to holdout and conditions when the person has not chosen', () => {
    expect(evaluateOne({ filters }).reason).toBe('no_group_type');
  });

  it('comes before the holdout, and is personal even for a group flag', () => {
    const outcome = evaluateOne(
      {
        filters: {
          ...filters,
          aggregation_group_type_index: 0,
          holdout: { id: 1, exclusion_percentage: 100 },
        },
      },
      {
        stored: aStored({
          person: { properties: { '$feature_enrollment/a-flag': true }, createdAt: new Date(0) },
        }),
      },
      COMPANY,
    );
    expect([outcome.enabled, outcome.reason]).toEqual([true, 'super_condition_value']);
  });

  it('is ignored by a flag that does not use it', () => {
    const context = { personProperties: { '$feature_enrollment/a-flag': false } };
    expect(evaluateOne({}, context).reason).toBe('condition_match');
  });
});

describe('holdout', () => {
  const held = (exclusion_percentage: number, overrides: JsonObject = {}) => ({
    filters: {
      holdout: { id: 7, exclusion_percentage },
      groups: [aCondition()],
      payloads: { 'holdout-7': '"held"', true: '"on"' },
      ...overrides,
    },
  });

  // some_distinct_id draws 0.7270.
  it.each([
    [73, true],
    [72, false],
    [100, true],
    [250, true],
    [0, false],
    [-5, false],
  ])('of %d %% keeps some_distinct_id out: %s', (percentage, expected) => {
    const outcome = evaluateOne(held(percentage), { distinctId: 'some_distinct_id' });
    expect(outcome.enabled).toBe(true);
    expect([outcome.variant, outcome.payload]).toEqual(
      expected ? ['holdout-7', '"held"'] : [null, '"on"'],
    );
  });

  it('draws by the group key for a group flag, and hashes an absent one', () => {
    const flag = held(73, { aggregation_group_type_index: 0 });
    const context = { distinctId: 'example_id', groups: { company: 'some_distinct_id' } };
    expect(evaluateOne(flag, context, COMPANY).variant).toBe('holdout-7');
    // Empty: 0.9269.
    expect(evaluateOne(flag, { distinctId: 'x' }, COMPANY).variant).toBeNull();
  });

  it('follows the anonymous id under continuity, but never a stored override', () => {
    const flag = { ...held(73), ensureExperienceContinuity: true };
    const stored = aStored({ hashKeyOverrides: new Map([['a-flag', 'example_id']]) });
    const context = { distinctId: 'example_id', anonDistinctId: 'some_distinct_id', stored };
    expect(evaluateOne(flag, context).variant).toBe('holdout-7');
  });

  it('falls back to the distinct id without a device id', () => {
    const flag = { ...held(73), bucketingIdentifier: 'device_id' };
    const context = { distinctId: 'some_distinct_id' };
    expect(evaluateOne(flag, context).variant).toBe('holdout-7');
    expect(evaluateOne(flag, { ...context, deviceId: 'example_id' }).variant).toBeNull();
  });
});

describe('device bucketing', () => {
  const flag = (group: JsonObject, overrides: JsonObject = {}): Partial<FlagDefinition> => ({
    key: 'simple-flag',
    bucketingIdentifier: 'device_id',
    filters: { groups: [aCondition(group)], ...overrides },
  });
  const split = {
    multivariate: {
      variants: [
        { key: 'a', rollout_percentage: 50 },
        { key: 'b', rollout_percentage: 50 },
      ],
    },
  };

  // Of the two ids only distinct_id_1 is admitted at 45 %.
  it('hashes the device id, not the distinct id', () => {
    const partial = flag({ rollout_percentage: 45 });
    expect(
      evaluateOne(partial, { distinctId: 'distinct_id_0', deviceId: 'distinct_id_1' }).enabled,
    ).toBe(true);
    expect(
      evaluateOne(partial, { distinctId: 'distinct_id_1', deviceId: 'distinct_id_0' }).enabled,
    ).toBe(false);
  });

  it.each<[string, JsonObject, JsonObject, boolean]>([
    ['a partial rollout', { rollout_percentage: 45 }, {}, false],
    ['variants that split', {}, split, false],
    ['a full rollout', {}, {}, true],
    ['a pinned variant', { variant: 'b' }, split, true],
    [
      'a single variant',
      {},
      { multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] } },
      true,
    ],
  ])('without a device id and with %s', (_, group, overrides, isEvaluated) => {
    const outcome = evaluateOne(flag(group, overrides), {
      distinctId: 'distinct_id_1',
      deviceId: '',
    });
    expect(outcome.enabled).toBe(isEvaluated);
    if (!isEvaluated)
      expect([outcome.reason, outcome.conditionIndex]).toEqual(['out_of_rollout_bound', 0]);
  });

  it('goes on to the next condition after a withheld one', () => {
    const groups = [aCondition({ rollout_percentage: 45 }), aCondition()];
    const outcome = evaluateOne({ ...flag({}), filters: { groups, early_exit: true } });
    expect(outcome.conditionIndex).toBe(1);
  });

  it('does not concern group conditions', () => {
    const group = { aggregation_group_type_index: 0, rollout_percentage: 45 };
    const context = { groups: { company: 'distinct_id_1' } };
    expect(evaluateOne(flag(group), context, COMPANY).enabled).toBe(true);
  });

  it('is off for an unknown kind of identifier', () => {
    const unknown = { ...flag({ rollout_percentage: 45 }), bucketingIdentifier: 'cookie' };
    expect(evaluateOne(unknown, { distinctId: 'distinct_id_1' }).enabled).toBe(true);
  });
});

describe('experience continuity', () => {
  const flag: Partial<FlagDefinition> = {
    key: 'simple-flag',
    ensureExperienceContinuity: true,
    filters: { groups: [aCondition({ rollout_percentage: 45 })] },
  };
  const override = (id: string) => aStored({ hashKeyOverrides: new Map([['simple-flag', id]]) });

  it('prefers the stored override, then the anonymous id, then the distinct id', () => {
    const ids = { distinctId: 'distinct_id_0', anonDistinctId: 'distinct_id_0' };
    expect(evaluateOne(flag, { ...ids, stored: override('distinct_id_1') }).enabled).toBe(true);
    expect(evaluateOne(flag, { ...ids, anonDistinctId: 'distinct_id_1' }).enabled).toBe(true);
    expect(evaluateOne(flag, { ...ids, distinctId: 'distinct_id_1' }).enabled).toBe(false);
    const empty = { anonDistinctId: '', distinctId: 'distinct_id_1' };
    expect(evaluateOne(flag, empty).enabled).toBe(true);
  });

  it('ignores overrides and anonymous ids where it is off', () => {
    const context = {
      distinctId: 'distinct_id_0',
      anonDistinctId: 'distinct_id_1',
      stored: override('distinct_id_1'),
    };
    expect(evaluateOne({ ...flag, ensureExperienceContinuity: false }, context).enabled).toBe(
      false,
    );
    const device = { ...flag, bucketingIdentifier: 'device_id' };
    expect(evaluateOne(device, { ...context, deviceId: 'distinct_id_0' }).enabled).toBe(false);
  });

  it('does not concern group conditions', () => {
    const filters = {
      groups: [aCondition({ rollout_percentage: 45, aggregation_group_type_index: 0 })],
    };
    const context = { groups: { company: 'distinct_id_0' }, stored: override('distinct_id_1') };
    expect(evaluateOne({ ...flag, filters }, context, COMPANY).enabled).toBe(false);
  });
});
