import { describe, expect, it } from 'vitest';
import {
  aCohort,
  aCondition,
  aContext,
  aFlag,
  aProject,
  compileTestPattern,
  evaluateOne,
  evaluateProject,
} from '../../../../test/builders.ts';
import type { JsonObject } from '../../common/json.ts';
import type { EvaluationContext } from '../model/context.ts';
import type { ProjectDefinitions } from '../model/definitions.ts';
import { prepareSnapshot } from '../prepare/prepare.ts';
import { evaluateFlags } from './evaluate-flags.ts';

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
    // A property miss is not a rollout miss.
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
