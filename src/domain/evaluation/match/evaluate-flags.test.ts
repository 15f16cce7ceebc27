import { describe, expect, it } from 'vitest';
import {
  aCondition,
  aContext,
  aFlag,
  aProject,
  compileTestPattern,
  evaluateOne,
  evaluateProject,
} from '../../../../test/builders.ts';
import type { JsonObject, JsonValue } from '../../common/json.ts';
import type { RequestRuntime } from '../model/context.ts';
import type { FlagDefinition } from '../model/definitions.ts';
import { prepareSnapshot } from '../prepare/prepare.ts';
import { evaluateFlags } from './evaluate-flags.ts';

const dependsOn = (
  flagId: number,
  value: JsonValue = true,
  operator: string | null = 'flag_evaluates_to',
) => ({
  key: String(flagId),
  type: 'flag',
  operator,
  value,
});
const flagOf = (id: number, properties: JsonObject[], overrides: Partial<FlagDefinition> = {}) =>
  aFlag({ id, key: `f${id}`, filters: { groups: [aCondition({ properties })] }, ...overrides });
const OFF = { groups: [aCondition({ rollout_percentage: 0 })] };
const VARIANT_A = {
  groups: [aCondition()],
  multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
};

describe('a flag that depends on another', () => {
  it.each<[string, JsonObject, JsonValue, boolean]>([
    ['on', { groups: [aCondition()] }, true, true],
    ['on', { groups: [aCondition()] }, false, false],
    ['off', OFF, true, false],
    ['off', OFF, false, true],
    ['a variant', VARIANT_A, true, true],
    ['a variant', VARIANT_A, false, false],
    ['a variant', VARIANT_A, 'a', true],
    ['a variant', VARIANT_A, 'A', false],
    ['a variant', VARIANT_A, 'b', false],
    ['on without variants', { groups: [aCondition()] }, 'a', false],
    ['on', { groups: [aCondition()] }, 1, false],
    ['on', { groups: [aCondition()] }, null, false],
    ['on', { groups: [aCondition()] }, ['true'], false],
  ])('%s %j and asks for %j is %s', (_, filters, value, expected) => {
    const flags = [aFlag({ id: 1, key: 'base', filters }), flagOf(2, [dependsOn(1, value)])];
    expect(evaluateProject({ flags }).outcomes.f2?.enabled).toBe(expected);
  });

  it('never matches under another operator, or by a key that is not an id', () => {
    const flags = [
      flagOf(1, []),
      flagOf(2, [dependsOn(1, true, 'exact')]),
      flagOf(3, [dependsOn(1, true, null)]),
      flagOf(4, [{ ...dependsOn(1), key: 'f1' }]),
    ];
    const { outcomes, errorsWhileComputing } = evaluateProject({ flags });
    expect([outcomes.f2?.reason, outcomes.f3?.reason, outcomes.f4?.reason]).toEqual(
      Array.from({ length: 3 }, () => 'no_condition_match'),
    );
    expect(errorsWhileComputing).toBe(false);
  });

  it('is evaluated after it, and listed in definition order all the same', () => {
    const flags = [
      flagOf(3, [dependsOn(2)]),
      flagOf(2, [dependsOn(1)]),
      flagOf(1, []),
      flagOf(4, []),
    ];
    const snapshot = prepareSnapshot(aProject({ flags }), compileTestPattern);
    const { outcomes } = evaluateFlags(snapshot, aContext(), { now: new Date(0) });
    expect(outcomes.map((outcome) => [outcome.flag.key, outcome.enabled])).toEqual([
      ['f3', true],
      ['f2', true],
      ['f1', true],
      ['f4', true],
    ]);
  });

  it('sees an inactive or filtered flag as false', () => {
    const flags = [
      flagOf(1, [], { active: false }),
      flagOf(2, [], { evaluationRuntime: 'server' }),
      flagOf(3, [], { evaluationContexts: ['shop'] }),
      flagOf(4, [dependsOn(1, false), dependsOn(2, false), dependsOn(3, false)]),
      flagOf(5, [dependsOn(1)]),
    ];
    const { outcomes } = evaluateProject(
      { flags },
      { runtime: 'client', evaluationContexts: ['blog'] },
    );
    expect(Object.keys(outcomes)).toEqual(['f4', 'f5']);
    expect([outcomes.f4?.enabled, outcomes.f5?.enabled]).toEqual([true, false]);
  });

  it('is missing a dependency when that does not exist, and passes this on', () => {
    const flags = [
      flagOf(1, [dependsOn(404, false)]),
      flagOf(2, [dependsOn(1, false)]),
      flagOf(3, []),
    ];
    const { outcomes, errorsWhileComputing } = evaluateProject({ flags });
    expect(
      [outcomes.f1, outcomes.f2].map((each) => [each?.reason, each?.enabled, each?.failed]),
    ).toEqual([
      ['missing_dependency', false, false],
      ['missing_dependency', false, false],
    ]);
    expect([outcomes.f3?.enabled, errorsWhileComputing]).toEqual([true, false]);
  });

  it('is left out with everything downstream when dependencies form a cycle', () => {
    const flags = [
      flagOf(1, [dependsOn(2, false)]),
      flagOf(2, [dependsOn(1, false)]),
      flagOf(3, [dependsOn(1, false)]),
      flagOf(4, [dependsOn(4)]),
      flagOf(5, []),
    ];
    const { outcomes, errorsWhileComputing } = evaluateProject({ flags });
    expect(Object.keys(outcomes)).toEqual(['f5']);
    expect(errorsWhileComputing).toBe(true);
    expect(prepareSnapshot(aProject({ flags }), compileTestPattern).cyclicFlagKeys).toEqual([
      'f1',
      'f2',
      'f3',
      'f4',
    ]);
  });

  it('is freed from a cycle that runs through an inactive flag', () => {
    const flags = [flagOf(1, [dependsOn(2, false)]), flagOf(2, [dependsOn(1)], { active: false })];
    const { outcomes, errorsWhileComputing } = evaluateProject({ flags });
    expect([outcomes.f1?.enabled, errorsWhileComputing]).toEqual([true, false]);
  });

  it('works through a chain of thousands', () => {
    const flags = Array.from({ length: 5000 }, (_, at) =>
      flagOf(5000 - at, at === 4999 ? [] : [dependsOn(4999 - at)]),
    );
    expect(evaluateProject({ flags }).outcomes.f5000?.enabled).toBe(true);
  });
});

describe('a flag whose dependency failed', () => {
  const broken = aFlag({ id: 1, key: 'broken', filters: { groups: 'none' } });
  const outcomeOf = (filters: JsonObject, first: FlagDefinition = broken) =>
    evaluateOne({ id: 2, filters }, {}, { flags: [first] });
  const asks = (value: JsonValue, rest: JsonObject = {}) =>
    aCondition({ properties: [dependsOn(1, value)], ...rest });

  it.each<JsonValue>([true, false, 'a'])('fails when the answer hangs on it: %j', (value) => {
    const outcome = outcomeOf({ groups: [asks(value)] });
    expect([outcome.failed, outcome.reason, outcome.enabled]).toEqual([
      true,
      'dependency_failed',
      false,
    ]);
  });

  it('answers when both ways lead to the same value', () => {
    expect(outcomeOf({ groups: [asks(true), aCondition()] })).toMatchObject({
      enabled: true,
      conditionIndex: 1,
      failed: false,
    });
    expect(outcomeOf({ groups: [asks(true, { rollout_percentage: 0 })] })).toMatchObject({
      enabled: false,
      failed: false,
    });
    const missed = aCondition({ properties: [dependsOn(1), { key: 'plan', value: 'pro' }] });
    expect(outcomeOf({ groups: [missed] })).toMatchObject({ enabled: false, failed: false });
  });

  it('fails when the ways lead to different variants', () => {
    const filters = {
      groups: [asks(true, { variant: 'b' }), aCondition()],
      multivariate: {
        variants: [
          { key: 'a', rollout_percentage: 100 },
          { key: 'b', rollout_percentage: 0 },
        ],
      },
    };
    expect(outcomeOf(filters).failed).toBe(true);
  });

  it('fails when two open conditions lead to different variants', () => {
    const filters = {
      groups: [asks('x', { variant: 'b' }), asks('y', { variant: 'a' }), aCondition()],
      multivariate: {
        variants: [
          { key: 'a', rollout_percentage: 100 },
          { key: 'b', rollout_percentage: 0 },
        ],
      },
    };
    expect(outcomeOf(filters).failed).toBe(true);
  });

  it('fails when an early exit hangs on it', () => {
    const groups = [asks(true, { rollout_percentage: 0 }), aCondition()];
    expect(outcomeOf({ groups }).enabled).toBe(true);
    expect(outcomeOf({ early_exit: true, groups }).failed).toBe(true);
  });

  it.each<[JsonValue, JsonValue]>([
    [true, false],
    ['a', 'b'],
    ['a', false],
  ])('does not match two filters that contradict each other: %j and %j', (left, right) => {
    const both = aCondition({ properties: [dependsOn(1, left), dependsOn(1, right)] });
    expect(outcomeOf({ groups: [both] })).toMatchObject({
      reason: 'no_condition_match',
      failed: false,
    });
  });

  it('still fails for two filters that agree', () => {
    const both = aCondition({ properties: [dependsOn(1, true), dependsOn(1, 'a')] });
    expect(outcomeOf({ groups: [both] }).failed).toBe(true);
  });

  it('counts filters in an unsupported format as false', () => {
    const newer = aFlag({ id: 1, key: 'newer', filters: { version: 2, rules: [] } });
    expect(outcomeOf({ groups: [asks(false)] }, newer)).toMatchObject({
      enabled: true,
      failed: false,
    });
    expect(outcomeOf({ groups: [asks(true)] }, newer)).toMatchObject({
      enabled: false,
      failed: false,
    });
  });
});

describe('flags with stored filters that cannot be read', () => {
  const group = (overrides: JsonObject) => ({ groups: [aCondition(overrides)] });
  const property = (overrides: JsonObject) =>
    group({ properties: [{ key: 'p', value: 1, ...overrides }] });

  it.each<JsonObject>([
    { version: 2, groups: [] },
    { version: '1', groups: [] },
    { groups: 'none' },
    { groups: {} },
    { groups: [null] },
    { groups: ['x'] },
    group({ properties: {} }),
    group({ properties: [1] }),
    group({ rollout_percentage: '50' }),
    group({ variant: 1 }),
    group({ aggregation_group_type_index: 'company' }),
    group({ aggregation_group_type_index: 0.5 }),
    property({ operator: 'min' }),
    property({ operator: 5 }),
    property({ type: 'event' }),
    property({ type: 7 }),
    property({ key: null }),
    property({ negation: 'yes' }),
    property({ group_type_index: '0' }),
    { groups: [], multivariate: [] },
    { groups: [], multivariate: { variants: {} } },
    { groups: [], multivariate: { variants: [{ key: 'a' }] } },
    { groups: [], multivariate: { variants: [{ rollout_percentage: 5 }] } },
    { groups: [], multivariate: { variants: [{ key: 'a', rollout_percentage: '5' }] } },
    { groups: [], payloads: [] },
    { groups: [], holdout: [] },
    { groups: [], holdout: {} },
    { groups: [], holdout: { id: 1 } },
    { groups: [], holdout: { id: '1', exclusion_percentage: 5 } },
    { groups: [], feature_enrollment: 'true' },
    { groups: [], early_exit: 1 },
    { groups: [], aggregation_group_type_index: true },
  ])('fail alone: %j', (filters) => {
    const flags = [aFlag({ id: 1, key: 'bad', filters }), flagOf(2, [])];
    const { outcomes, errorsWhileComputing } = evaluateProject({ flags });
    expect(outcomes.bad).toMatchObject({
      enabled: false,
      variant: null,
      reason: 'flag_data_parsing_error',
      conditionIndex: null,
      failed: true,
    });
    expect([outcomes.f2?.enabled, errorsWhileComputing]).toEqual([true, true]);
  });

  it.each<JsonObject>([
    { version: 1, groups: [{}] },
    { version: null, groups: [{}] },
    { groups: [{ description: 'x', sort_key: [] }], super_groups: [{}], holdout_groups: 5 },
    {
      groups: [{}],
      multivariate: null,
      payloads: null,
      holdout: null,
      feature_enrollment: null,
      early_exit: null,
    },
    { groups: [{}], multivariate: {} },
  ])('do not include unusual but readable ones: %j', (filters) => {
    expect(evaluateOne({ filters })).toMatchObject({ enabled: true, failed: false });
  });
});

describe('which flags are evaluated', () => {
  const keysOf = (flags: FlagDefinition[], context = {}, options = {}) =>
    Object.keys(evaluateProject({ flags }, context, options).outcomes);
  const byRuntime = ['all', 'client', 'server', 'CLIENT', 'banana', ''].map(
    (evaluationRuntime, at) => flagOf(at + 1, [], { evaluationRuntime }),
  );

  it.each<[RequestRuntime, string[]]>([
    ['all', ['f1', 'f2', 'f3', 'f4', 'f5', 'f6']],
    ['client', ['f1', 'f2', 'f4', 'f5', 'f6']],
    ['server', ['f1', 'f3', 'f5', 'f6']],
    [null, ['f1', 'f5', 'f6']],
  ])('depends on the runtime: %s', (runtime, expected) => {
    expect(keysOf(byRuntime, { runtime })).toEqual(expected);
  });

  it.each<[string[], string[]]>([
    [[], ['f1', 'f2', 'f3']],
    [['shop'], ['f1', 'f2']],
    [
      ['blog', 'shop'],
      ['f1', 'f2', 'f3'],
    ],
    [['Shop'], ['f1']],
  ])('depends on the evaluation contexts: %j', (evaluationContexts, expected) => {
    const flags = [
      flagOf(1, []),
      flagOf(2, [], { evaluationContexts: ['shop', 'docs'] }),
      flagOf(3, [], { evaluationContexts: ['blog'] }),
    ];
    expect(keysOf(flags, { evaluationContexts })).toEqual(expected);
  });

  it('leaves out inactive flags', () => {
    expect(keysOf([flagOf(1, [], { active: false }), flagOf(2, [])])).toEqual(['f2']);
  });

  it('can be those that target surveys', () => {
    const flags = [flagOf(1, []), flagOf(2, [], { key: 'survey-targeting-x' })];
    expect(keysOf(flags, {}, { surveyFlagsOnly: true })).toEqual(['survey-targeting-x']);
  });

  it('can be named, and then includes all they depend on', () => {
    const flags = [
      flagOf(4, []),
      flagOf(3, [dependsOn(2)]),
      flagOf(2, [dependsOn(1)]),
      flagOf(1, []),
      flagOf(5, [], { active: false }),
      flagOf(6, [], { evaluationRuntime: 'server' }),
    ];
    const context = { runtime: 'client' };
    const named = (...flagKeys: string[]) => keysOf(flags, context, { flagKeys });
    expect(named('f3')).toEqual(['f3', 'f2', 'f1']);
    expect(named('f1', 'f1', 'unknown')).toEqual(['f1']);
    expect(named('f5', 'f6')).toEqual([]);
    expect(named()).toEqual([]);
    expect(evaluateProject({ flags }, {}, { flagKeys: ['f3'] }).outcomes.f3?.enabled).toBe(true);
  });

  it('reports an error only for cycles among the named ones', () => {
    const flags = [flagOf(1, [dependsOn(1)]), flagOf(2, []), flagOf(3, [dependsOn(1)])];
    const hasError = (...flagKeys: string[]) =>
      evaluateProject({ flags }, {}, { flagKeys }).errorsWhileComputing;
    expect([hasError('f2'), hasError('f3')]).toEqual([false, true]);
  });

  it('is nothing for a project without flags', () => {
    expect(evaluateProject({})).toEqual({ outcomes: {}, errorsWhileComputing: false });
  });
});
