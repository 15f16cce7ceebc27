import { describe, expect, it } from 'vitest';
import {
  aCohort,
  aCondition,
  aContext,
  aFlag,
  aProject,
  aStored,
  compileTestPattern,
  evaluateOne,
  evaluateProject,
} from '../../../test/builders.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { EvaluationContext } from './context.ts';
import type { FlagDefinition, ProjectDefinitions } from './definitions.ts';
import { evaluateFlags } from './evaluate-flags.ts';
import { prepareSnapshot } from './prepare.ts';

const PRO = { key: 'plan', type: 'person', value: 'pro' };
const COMPANY = { groupTypes: [{ index: 0, name: 'company' }] };
const BEHAVIOURAL = aCohort({
  id: 9,
  filters: {
    properties: {
      type: 'OR',
      values: [{ type: 'behavioral', key: 'signup', value: 'performed_event' }],
    },
  },
});

interface ReasonRow {
  readonly title: string;
  readonly filters: JsonObject;
  readonly context?: Partial<EvaluationContext>;
  readonly project?: Partial<ProjectDefinitions>;
  readonly expected: readonly [
    enabled: boolean,
    reason: string,
    index: number | null,
    description: string,
  ];
}

const REASONS: readonly ReasonRow[] = [
  {
    title: 'enrolled',
    filters: { feature_enrollment: true, groups: [] },
    context: { personProperties: { '$feature_enrollment/a-flag': true } },
    expected: [true, 'super_condition_value', 0, 'Super condition value'],
  },
  {
    title: 'opted out of enrollment',
    filters: { feature_enrollment: true, groups: [aCondition()] },
    context: { personProperties: { '$feature_enrollment/a-flag': false } },
    expected: [false, 'super_condition_value', 0, 'Super condition value'],
  },
  {
    title: 'held out',
    filters: { holdout: { id: 7, exclusion_percentage: 100 }, groups: [] },
    expected: [true, 'holdout_condition_value', null, 'Holdout condition value'],
  },
  {
    title: 'matched by the second condition',
    filters: { groups: [aCondition({ properties: [PRO] }), aCondition()] },
    expected: [true, 'condition_match', 1, 'Matched condition set 2'],
  },
  {
    title: 'not admitted by the rollout',
    filters: { groups: [aCondition({ rollout_percentage: 0 })] },
    expected: [false, 'out_of_rollout_bound', 0, 'Out of rollout bound'],
  },
  {
    title: 'without matching properties',
    filters: { groups: [aCondition({ properties: [PRO] })] },
    expected: [false, 'no_condition_match', 0, 'No matching condition set'],
  },
  {
    title: 'without matching properties and with a skipped group condition',
    filters: {
      groups: [aCondition({ aggregation_group_type_index: 0 }), aCondition({ properties: [PRO] })],
    },
    project: COMPANY,
    expected: [
      false,
      'no_condition_match',
      1,
      'No matching condition set (group conditions were not evaluated because no group type was provided)',
    ],
  },
  {
    title: 'aimed at a behavioural cohort, which takes precedence over a skipped group',
    filters: {
      groups: [
        aCondition({ aggregation_group_type_index: 0 }),
        aCondition({ properties: [{ key: 'id', type: 'cohort', value: 9 }] }),
      ],
    },
    project: { ...COMPANY, cohorts: [BEHAVIOURAL] },
    expected: [
      false,
      'no_condition_match',
      1,
      "This condition targets a behavioral or realtime cohort. Its membership is not fully evaluated here, so this result can differ from the cohort's member list.",
    ],
  },
  {
    title: 'with skipped group conditions only',
    filters: { aggregation_group_type_index: 0, groups: [aCondition(), aCondition()] },
    project: COMPANY,
    expected: [false, 'no_group_type', 1, 'No group type'],
  },
  {
    title: 'without any condition',
    filters: { groups: [] },
    expected: [false, 'no_group_type', null, 'No group type'],
  },
  {
    title: 'without filters at all',
    filters: {},
    expected: [false, 'no_group_type', null, 'No group type'],
  },
  {
    title: 'dependent on a flag that does not exist',
    filters: {
      groups: [
        aCondition({
          properties: [{ key: '404', type: 'flag', operator: 'flag_evaluates_to', value: false }],
        }),
      ],
    },
    expected: [
      false,
      'missing_dependency',
      null,
      'Flag cannot be evaluated due to missing dependency',
    ],
  },
];

describe('the reason of a flag', () => {
  it.each(REASONS)('$title', ({ filters, context, project, expected }) => {
    const outcome = evaluateOne({ filters }, context, project);
    expect([outcome.enabled, outcome.reason, outcome.conditionIndex, outcome.description]).toEqual(
      expected,
    );
    expect(outcome.failed).toBe(false);
  });

  it.each<[string, JsonObject[], string, number]>([
    [
      'rollout beats properties',
      [{ rollout_percentage: 0 }, { properties: [PRO] }],
      'out_of_rollout_bound',
      0,
    ],
    [
      'properties lose to an earlier rollout miss',
      [{ properties: [PRO] }, { rollout_percentage: 0 }],
      'out_of_rollout_bound',
      1,
    ],
    [
      'of equals the later one',
      [{ properties: [PRO] }, { properties: [PRO] }],
      'no_condition_match',
      1,
    ],
    [
      'of equal rollout misses the later one',
      [{ rollout_percentage: 0 }, { rollout_percentage: 0 }],
      'out_of_rollout_bound',
      1,
    ],
    [
      'properties beat a skipped group',
      [{ properties: [PRO] }, { aggregation_group_type_index: 0 }],
      'no_condition_match',
      0,
    ],
  ])('is the strongest: %s', (_, groups, reason, index) => {
    const outcome = evaluateOne({ filters: { groups: groups.map(aCondition) } });
    expect([outcome.reason, outcome.conditionIndex]).toEqual([reason, index]);
  });
});

describe('conditions', () => {
  it('are tried in stored order, even when a later one pins a variant', () => {
    const outcome = evaluateOne({
      filters: {
        groups: [aCondition(), aCondition({ variant: 'b' })],
        multivariate: {
          variants: [
            { key: 'a', rollout_percentage: 100 },
            { key: 'b', rollout_percentage: 0 },
          ],
        },
      },
    });
    expect([outcome.variant, outcome.conditionIndex]).toEqual(['a', 0]);
  });

  it('need all of their filters', () => {
    const filters = {
      groups: [aCondition({ properties: [PRO, { key: 'age', operator: 'gt', value: 5 }] })],
    };
    const isOn = (personProperties: JsonObject) =>
      evaluateOne({ filters }, { personProperties }).enabled;
    expect(isOn({ plan: 'pro', age: 6 })).toBe(true);
    expect(isOn({ plan: 'pro', age: 5 })).toBe(false);
    expect(isOn({ plan: 'free', age: 6 })).toBe(false);
  });

  it('admit everyone when no rollout is given', () => {
    for (const group of [{}, { rollout_percentage: null }, { properties: null }]) {
      expect(evaluateOne({ filters: { groups: [group] } }).enabled).toBe(true);
    }
  });

  it('admit everyone above 100 % and nobody below 0 %, not even an empty identifier', () => {
    const isOn = (rollout_percentage: number) =>
      evaluateOne({ filters: { groups: [aCondition({ rollout_percentage })] } }, { distinctId: '' })
        .enabled;
    expect([isOn(150), isOn(0), isOn(-1)]).toEqual([true, true, false]);
  });

  it('do not apply negation to a plain filter', () => {
    const filters = { groups: [aCondition({ properties: [{ ...PRO, negation: true }] })] };
    expect(evaluateOne({ filters }, { personProperties: { plan: 'pro' } }).enabled).toBe(true);
  });

  it('end the flag on a rollout miss when it asks for an early exit', () => {
    const groups = [aCondition({ properties: [PRO], rollout_percentage: 0 }), aCondition()];
    const context = { personProperties: { plan: 'pro' } };
    const early = evaluateOne({ filters: { early_exit: true, groups } }, context);
    expect([early.enabled, early.reason, early.conditionIndex]).toEqual([
      false,
      'out_of_rollout_bound',
      0,
    ]);
    expect(evaluateOne({ filters: { groups } }, context).enabled).toBe(true);
    // A property miss is no rollout miss.
    expect(evaluateOne({ filters: { early_exit: true, groups } }).enabled).toBe(true);
  });
});

describe('variants and payloads', () => {
  const multivariate = {
    variants: [
      { key: 'a', rollout_percentage: 50 },
      { key: 'b', rollout_percentage: 50 },
    ],
  };
  const payloads = { true: '"plain"', a: '{"x":1}', b: { raw: true } };

  it('are pinned by a condition that names an existing variant', () => {
    const pin = (variant: string) =>
      evaluateOne(
        { key: 'multivariate-flag', filters: { groups: [aCondition({ variant })], multivariate } },
        // Draws 0.6186: the second half.
        { distinctId: 'distinct_id_0' },
      ).variant;
    expect(pin('a')).toBe('a');
    expect(pin('unknown')).toBe('b');
  });

  it('carry the payload of the variant exactly as stored', () => {
    const groups = (variant: string | null) => [aCondition({ variant })];
    const payloadOf = (variant: string) =>
      evaluateOne({ filters: { groups: groups(variant), multivariate, payloads } }).payload;
    expect(payloadOf('a')).toBe('{"x":1}');
    expect(payloadOf('b')).toEqual({ raw: true });
  });

  it('carry the payload "true" where there is no variant', () => {
    expect(evaluateOne({ filters: { groups: [aCondition()], payloads } }).payload).toBe('"plain"');
    const none = { variants: [{ key: 'a', rollout_percentage: 0 }] };
    const outcome = evaluateOne({
      filters: { groups: [aCondition()], multivariate: none, payloads },
    });
    expect([outcome.enabled, outcome.variant, outcome.payload]).toEqual([true, null, '"plain"']);
  });

  it('carry no payload when nothing matched, and none from a prototype', () => {
    const filters = { groups: [aCondition({ rollout_percentage: 0 })], payloads };
    expect(evaluateOne({ filters }).payload).toBeUndefined();
    const named = { variants: [{ key: 'constructor', rollout_percentage: 100 }] };
    expect(
      evaluateOne({ filters: { groups: [aCondition()], multivariate: named, payloads } }).payload,
    ).toBeUndefined();
  });
});

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

describe('groups', () => {
  const groupFlag = (properties: JsonObject[], rollout_percentage = 100) => ({
    key: 'company-flag',
    filters: {
      aggregation_group_type_index: 0,
      groups: [aCondition({ properties, rollout_percentage })],
    },
  });
  const tier = { key: 'tier', type: 'group', group_type_index: 0, value: 'gold' };

  it.each<[JsonValue, boolean]>([
    ['acme', true],
    [42, true],
    [0, true],
    ['', false],
    [null, false],
    [true, false],
    [{ id: 1 }, false],
    [['acme'], false],
  ])('with the key %j are evaluated: %s', (company, expected) => {
    const outcome = evaluateOne(groupFlag([]), { groups: { company } }, COMPANY);
    expect(outcome.enabled).toBe(expected);
    if (!expected) expect(outcome.reason).toBe('no_group_type');
  });

  it('hash a number as its JSON text', () => {
    // company-flag.42 draws 0.1019, company-flag.acme-inc 0.9455.
    const flag = groupFlag([], 50);
    const isOn = (company: JsonValue) =>
      evaluateOne(flag, { groups: { company } }, COMPANY).enabled;
    expect([isOn(42), isOn('42'), isOn('acme-inc')]).toEqual([true, true, false]);
  });

  it('have no key when the project does not know the type', () => {
    expect(evaluateOne(groupFlag([]), { groups: { company: 'acme' } }).reason).toBe(
      'no_group_type',
    );
  });

  it('read request properties before stored ones', () => {
    const stored = aStored({ groups: new Map([[0, { tier: 'gold' }]]) });
    const context = { groups: { company: 'acme' }, stored };
    expect(evaluateOne(groupFlag([tier]), context, COMPANY).enabled).toBe(true);
    const sent = { ...context, groupProperties: { company: { tier: 'basic' } } };
    expect(evaluateOne(groupFlag([tier]), sent, COMPANY).enabled).toBe(false);
    expect(evaluateOne(groupFlag([tier]), { groups: { company: 'acme' } }, COMPANY).enabled).toBe(
      false,
    );
  });

  it('offer their own key, whatever the request claims', () => {
    const flag = groupFlag([{ key: '$group_key', type: 'group', value: '42' }]);
    const context = {
      groups: { company: 42 },
      groupProperties: { company: { $group_key: 'other' } },
    };
    expect(evaluateOne(flag, context, COMPANY).enabled).toBe(true);
  });

  it('take the type of the condition when a filter names none', () => {
    const flag = groupFlag([{ key: 'tier', type: 'group', value: 'gold' }]);
    const context = { groups: { company: 'acme' }, groupProperties: { company: { tier: 'gold' } } };
    expect(evaluateOne(flag, context, COMPANY).enabled).toBe(true);
  });

  it('may be mixed with person filters in one condition', () => {
    const flag = { filters: { groups: [aCondition({ properties: [PRO, tier] })] } };
    const context = { personProperties: { plan: 'pro' }, groups: { company: 'acme' } };
    const gold = { groupProperties: { company: { tier: 'gold' } } };
    expect(evaluateOne(flag, { ...context, ...gold }, COMPANY).enabled).toBe(true);
    expect(evaluateOne(flag, context, COMPANY).enabled).toBe(false);
    expect(evaluateOne(flag, { ...gold, groups: { company: 'acme' } }, COMPANY).enabled).toBe(
      false,
    );
  });

  it('that the request does not name are empty apart from the properties it sends', () => {
    const flag = (operator: string) => ({
      filters: { groups: [aCondition({ properties: [{ ...tier, operator }] })] },
    });
    const stored = aStored({ groups: new Map([[0, { tier: 'gold' }]]) });
    expect(evaluateOne(flag('is_not'), { stored }, COMPANY).enabled).toBe(true);
    const sent = { groupProperties: { company: { tier: 'gold' } } };
    expect(evaluateOne(flag('exact'), sent, COMPANY).enabled).toBe(true);
  });

  it('never match a filter without any group type', () => {
    const properties = [{ key: 'tier', type: 'group', operator: 'is_not_set' }];
    expect(
      evaluateOne({ filters: { groups: [aCondition({ properties })] } }, {}, COMPANY).enabled,
    ).toBe(false);
  });

  it('are decided per condition, null meaning person', () => {
    const filters = {
      aggregation_group_type_index: 0,
      groups: [aCondition(), aCondition({ aggregation_group_type_index: null, properties: [PRO] })],
    };
    const outcome = evaluateOne({ filters }, { personProperties: { plan: 'pro' } }, COMPANY);
    expect([outcome.enabled, outcome.conditionIndex]).toEqual([true, 1]);
  });
});

describe('outcomes', () => {
  const evaluateTwice = (project: ProjectDefinitions) => {
    const snapshot = prepareSnapshot(project, compileTestPattern);
    const evaluate = (distinctId: string) =>
      evaluateFlags(snapshot, aContext({ distinctId }), { now: new Date(0) }).outcomes;
    return [evaluate('first'), evaluate('second')] as const;
  };

  it('are the identical object for the same result, across persons', () => {
    const project = aProject({
      flags: [
        aFlag({ id: 1, key: 'on' }),
        aFlag({ id: 2, key: 'off', filters: { groups: [aCondition({ properties: [PRO] })] } }),
        aFlag({ id: 3, key: 'none', filters: { groups: [] } }),
      ],
    });
    // Two snapshots share nothing, one snapshot shares everything.
    const [first, second] = evaluateTwice(project);
    expect(first).toHaveLength(3);
    for (const [at, outcome] of first.entries()) expect(second[at]).toBe(outcome);
    const other = evaluateProject(project).outcomes;
    expect(other.on).not.toBe(first[0]);
    expect(other.on).toMatchObject({ enabled: true, reason: 'condition_match' });
  });
});
