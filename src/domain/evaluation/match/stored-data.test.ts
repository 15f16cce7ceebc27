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
import type { FlagDefinition, ProjectDefinitions } from '../model/definitions.ts';
import { prepareSnapshot } from '../prepare/prepare.ts';
import type { FlagSelection } from './select-flags.ts';
import { storedDataNeeds } from './stored-data.ts';

const PRO = { key: 'plan', type: 'person', value: 'pro' };
const TIER = { key: 'tier', type: 'group', group_type_index: 0, value: 'gold' };
const MEMBER = { key: 'id', type: 'cohort', value: 1 };
const COMPANY = [{ index: 0, name: 'company' }];
const STATIC = aCohort({ id: 1, isStatic: true });
const flagWith = (properties: JsonObject[], group: JsonObject = {}, rest: JsonObject = {}) =>
  aFlag({ filters: { groups: [aCondition({ properties, ...group })], ...rest } });
const NOTHING = { person: false, groups: [], staticCohortIds: [], hashKeyOverrides: false };

function needsOf(
  flag: FlagDefinition | readonly FlagDefinition[],
  context: Partial<EvaluationContext> = {},
  project: Partial<ProjectDefinitions> = {},
  selection: FlagSelection = {},
) {
  const flags = Array.isArray(flag) ? flag : [flag];
  const definitions = aProject({ groupTypes: COMPANY, ...project, flags });
  return storedDataNeeds(
    prepareSnapshot(definitions, compileTestPattern),
    aContext(context),
    selection,
  );
}

describe('stored data that an evaluation needs', () => {
  it('is none for flags that read nothing', () => {
    expect(needsOf(aFlag())).toBeNull();
    expect(needsOf(flagWith([], { rollout_percentage: 50 }))).toBeNull();
    expect(needsOf(flagWith([{ ...PRO, key: 'distinct_id' }]))).toBeNull();
    expect(needsOf([])).toBeNull();
  });

  it('is the person, unless the request sends every property that is read', () => {
    const flag = flagWith([PRO, { ...PRO, key: 'age' }]);
    expect(needsOf(flag)).toEqual({ ...NOTHING, person: true });
    expect(needsOf(flag, { personProperties: { plan: 'x' } })).toEqual({
      ...NOTHING,
      person: true,
    });
    expect(needsOf(flag, { personProperties: { plan: 'x', age: null } })).toBeNull();
  });

  it('is the person for a derived property that the request does not send under its own name', () => {
    const flag = flagWith([{ ...PRO, key: '$initial_os' }]);
    expect(needsOf(flag, { personProperties: { $os: 'Linux' } })?.person).toBe(true);
    expect(needsOf(flag, { personProperties: { $initial_os: 'Linux' } })).toBeNull();
  });

  it('is the person for the creation time, whatever is sent', () => {
    const flag = flagWith([{ key: 'created_at', type: 'person_metadata', operator: 'is_set' }]);
    expect(needsOf(flag, { personProperties: { created_at: 'x' } })?.person).toBe(true);
  });

  it('is the person for an enrollment that the request does not decide', () => {
    const flag = flagWith([PRO], {}, { feature_enrollment: true });
    expect(needsOf(flag, { personProperties: { plan: 'x' } })?.person).toBe(true);
    expect(needsOf(flag, { personProperties: { '$feature_enrollment/a-flag': true } })).toBeNull();
  });

  it('follows dynamic cohorts to their leaves and to nested static ones', () => {
    const tree = { type: 'AND', values: [PRO, { ...MEMBER, value: 2 }] };
    const cohorts = [aCohort({ id: 1, filters: { properties: tree } }), { ...STATIC, id: 2 }];
    expect(needsOf(flagWith([MEMBER]), {}, { cohorts })).toEqual({
      ...NOTHING,
      person: true,
      staticCohortIds: [2],
    });
    expect(needsOf(flagWith([MEMBER]), { personProperties: { plan: 'x' } }, { cohorts })).toEqual({
      ...NOTHING,
      staticCohortIds: [2],
    });
  });

  it('is the membership of static cohorts, each once', () => {
    const flags = [1, 2].map((id) => ({ ...flagWith([MEMBER]), id, key: `f${id}` }));
    expect(needsOf(flags, {}, { cohorts: [STATIC] })).toEqual({ ...NOTHING, staticCohortIds: [1] });
  });

  it('is the group of the request, unless the request sends what is read', () => {
    const flag = flagWith([TIER]);
    const groups = { company: 42 };
    expect(needsOf(flag, { groups })).toEqual({ ...NOTHING, groups: [{ index: 0, key: '42' }] });
    expect(needsOf(flag)).toBeNull();
    expect(needsOf(flag, { groups, groupProperties: { company: { tier: 'x' } } })).toBeNull();
    expect(needsOf(flagWith([{ ...TIER, key: '$group_key' }]), { groups })).toBeNull();
  });

  it('does not count a group condition whose group is not sent', () => {
    const flag = flagWith([PRO], { aggregation_group_type_index: 0 });
    expect(needsOf(flag)).toBeNull();
    expect(needsOf(flag, { groups: { company: 'acme' } })?.person).toBe(true);
  });

  it.each<[string, JsonObject, JsonObject, Partial<FlagDefinition>, boolean]>([
    ['a partial rollout', { rollout_percentage: 50 }, {}, {}, true],
    ['a full rollout', {}, {}, {}, false],
    [
      'a partial group rollout',
      { rollout_percentage: 50, aggregation_group_type_index: 0 },
      {},
      {},
      false,
    ],
    [
      'device bucketing',
      { rollout_percentage: 50 },
      {},
      { bucketingIdentifier: 'device_id' },
      false,
    ],
    ['no continuity', { rollout_percentage: 50 }, {}, { ensureExperienceContinuity: false }, false],
    [
      'variants that split',
      {},
      {
        multivariate: {
          variants: [
            { key: 'a', rollout_percentage: 50 },
            { key: 'b', rollout_percentage: 50 },
          ],
        },
      },
      {},
      true,
    ],
    [
      'one variant',
      {},
      { multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] } },
      {},
      false,
    ],
  ])(
    'is the continuity overrides where a hash can matter: %s',
    (_, group, rest, overrides, expected) => {
      const flag = { ...flagWith([], group, rest), ensureExperienceContinuity: true, ...overrides };
      expect(needsOf(flag)).toEqual(expected ? { ...NOTHING, hashKeyOverrides: true } : null);
    },
  );

  it('counts only flags that are selected and not filtered out', () => {
    const reading = { ...flagWith([PRO]), id: 2, key: 'reading' };
    const flags = [aFlag({ id: 1, key: 'plain' }), reading];
    expect(needsOf(flags, {}, {}, { flagKeys: ['plain'] })).toBeNull();
    expect(needsOf(flags, {}, {}, { flagKeys: ['reading'] })?.person).toBe(true);
    expect(needsOf(flags, {}, {}, { surveyFlagsOnly: true })).toBeNull();
    expect(needsOf({ ...reading, active: false })).toBeNull();
    expect(needsOf({ ...reading, evaluationRuntime: 'server' }, { runtime: 'client' })).toBeNull();
    expect(
      needsOf({ ...reading, evaluationContexts: ['a'] }, { evaluationContexts: ['b'] }),
    ).toBeNull();
  });

  it('includes what named flags depend on', () => {
    const dependency = { key: '2', type: 'flag', operator: 'flag_evaluates_to', value: true };
    const flags = [flagWith([dependency]), { ...flagWith([PRO]), id: 2, key: 'base' }];
    expect(needsOf(flags, {}, {}, { flagKeys: ['a-flag'] })?.person).toBe(true);
  });

  it('is none for flags that are decided anyway', () => {
    const dependency = { key: '404', type: 'flag', operator: 'flag_evaluates_to', value: true };
    expect(needsOf(flagWith([PRO, dependency]))).toBeNull();
    expect(needsOf(flagWith([PRO], {}, { version: 2 }))).toBeNull();
    expect(needsOf(flagWith([PRO, { ...dependency, key: '1' }]))).toBeNull();
  });
});

describe('what a prepared flag says about itself', () => {
  it('is which properties, groups and static cohorts it can read', () => {
    const flag = {
      ...flagWith([PRO, TIER, MEMBER], { rollout_percentage: 50 }),
      ensureExperienceContinuity: true,
    };
    const definitions = aProject({ groupTypes: COMPANY, cohorts: [STATIC], flags: [flag] });
    const snapshot = prepareSnapshot(definitions, compileTestPattern);
    const prepared = snapshot.flagsByKey.get('a-flag');
    expect(prepared?.reads).toEqual({
      personKeys: ['plan'],
      needsPersonCreatedAt: false,
      groupProperties: [{ index: 0, key: TIER.key }],
      staticCohortIds: [1],
    });
    expect(prepared).toMatchObject({
      isContinuityEffective: true,
      isHashSignificant: true,
      needsHashKeyOverride: true,
    });
    expect(snapshot.continuityFlagKeys).toEqual(['a-flag']);
  });

  it('is that inactive flags write no override', () => {
    const flag = aFlag({ active: false, ensureExperienceContinuity: true });
    expect(
      prepareSnapshot(aProject({ flags: [flag] }), compileTestPattern).continuityFlagKeys,
    ).toEqual([]);
  });
});

describe('when stored data is unavailable', () => {
  const outcomeOf = (
    flag: FlagDefinition,
    context: Partial<EvaluationContext> = {},
    project: Partial<ProjectDefinitions> = {},
  ) =>
    evaluateOne(flag, { stored: 'unavailable', ...context }, { groupTypes: COMPANY, ...project });
  const FAILED = {
    failed: true,
    enabled: false,
    reason: 'database_unavailable',
    conditionIndex: null,
  };

  it('flags that read nothing stored answer', () => {
    expect(outcomeOf(aFlag())).toMatchObject({ enabled: true, failed: false });
    expect(outcomeOf(flagWith([PRO]), { personProperties: { plan: 'pro' } }).enabled).toBe(true);
    expect(outcomeOf(flagWith([PRO]), { personProperties: { plan: 'free' } })).toMatchObject({
      enabled: false,
      reason: 'no_condition_match',
    });
    expect(outcomeOf(flagWith([{ ...PRO, key: 'distinct_id', value: 'a-person' }])).enabled).toBe(
      true,
    );
  });

  it.each<[string, FlagDefinition, Partial<EvaluationContext>]>([
    ['a person property', flagWith([PRO]), {}],
    ['an absent person property', flagWith([{ ...PRO, operator: 'is_not_set' }]), {}],
    [
      'a derived property',
      flagWith([{ ...PRO, key: '$os' }]),
      { personProperties: { $os_name: 'pro' } },
    ],
    [
      'the creation time',
      flagWith([{ key: 'created_at', type: 'person_metadata', operator: 'is_set' }]),
      {},
    ],
    ['a group property', flagWith([TIER]), { groups: { company: 'acme' } }],
    ['a static cohort', flagWith([MEMBER]), {}],
    ['not being in a static cohort', flagWith([{ ...MEMBER, operator: 'not_in' }]), {}],
    ['an enrollment', flagWith([], {}, { feature_enrollment: true }), {}],
    [
      'an override',
      { ...flagWith([], { rollout_percentage: 50 }), ensureExperienceContinuity: true },
      {},
    ],
  ])('a flag that needs %s fails', (_, flag, context) => {
    expect(outcomeOf(flag, context, { cohorts: [STATIC] })).toMatchObject(FAILED);
    const { errorsWhileComputing } = evaluateProject(
      { flags: [flag], groupTypes: COMPANY, cohorts: [STATIC] },
      { stored: 'unavailable', ...context },
    );
    expect(errorsWhileComputing).toBe(true);
  });

  it('continuity does not matter where the hash does not', () => {
    expect(outcomeOf(aFlag({ ensureExperienceContinuity: true })).enabled).toBe(true);
  });

  it('a group that the request does not name has nothing stored', () => {
    expect(outcomeOf(flagWith([{ ...TIER, operator: 'is_not' }])).enabled).toBe(true);
  });

  it('a flag answers when every possibility gives the same value', () => {
    const sure = { filters: { groups: [aCondition({ properties: [PRO] }), aCondition()] } };
    expect(outcomeOf(aFlag(sure))).toMatchObject({
      enabled: true,
      conditionIndex: 1,
      failed: false,
    });
    const never = flagWith([PRO, { ...PRO, key: 'age' }]);
    expect(outcomeOf(never, { personProperties: { age: 'x' } })).toMatchObject({
      enabled: false,
      failed: false,
    });
    const closed = flagWith([PRO], { rollout_percentage: 0 });
    expect(outcomeOf(closed)).toMatchObject({
      enabled: false,
      reason: 'out_of_rollout_bound',
      failed: false,
    });
  });

  it('a condition that matches first is not held up by later ones', () => {
    const groups = [aCondition(), aCondition({ properties: [PRO] })];
    expect(outcomeOf(aFlag({ filters: { groups } }))).toMatchObject({
      enabled: true,
      conditionIndex: 0,
    });
  });

  it('a cohort is open unless one of its leaves decides it', () => {
    const cohort = (type: string, negation = false) => ({
      cohorts: [
        aCohort({
          id: 1,
          filters: {
            properties: {
              type,
              values: [
                { ...PRO, negation },
                { ...PRO, key: 'age' },
              ],
            },
          },
        }),
      ],
    });
    const context = (age: string) => ({ personProperties: { age } });
    const flag = flagWith([MEMBER]);
    expect(outcomeOf(flag, context('pro'), cohort('OR'))).toMatchObject({
      enabled: true,
      failed: false,
    });
    expect(outcomeOf(flag, context('x'), cohort('OR'))).toMatchObject(FAILED);
    expect(outcomeOf(flag, context('x'), cohort('OR', true))).toMatchObject(FAILED);
    expect(outcomeOf(flag, context('x'), cohort('AND'))).toMatchObject({
      enabled: false,
      failed: false,
    });
    expect(outcomeOf(flag, context('pro'), cohort('AND'))).toMatchObject(FAILED);
  });

  it('a flag behind a failed one fails for its own reason', () => {
    const dependency = { key: '1', type: 'flag', operator: 'flag_evaluates_to', value: true };
    const flags = [flagWith([PRO]), { ...flagWith([dependency]), id: 2, key: 'dependent' }];
    const { outcomes } = evaluateProject({ flags }, { stored: 'unavailable' });
    expect(outcomes['a-flag']?.reason).toBe('database_unavailable');
    expect(outcomes.dependent).toMatchObject({ failed: true, reason: 'dependency_failed' });
  });

  it('needs and answers agree: a flag that needs nothing never fails', () => {
    const flags = [aFlag({ id: 1, key: 'a' }), { ...flagWith([PRO]), id: 2, key: 'b' }];
    const snapshot = prepareSnapshot(aProject({ flags }), compileTestPattern);
    for (const personProperties of [{}, { plan: 'pro' }]) {
      const context = { personProperties, stored: 'unavailable' } as const;
      const isFree = storedDataNeeds(snapshot, aContext(context)) === null;
      expect(evaluateProject({ flags }, context).errorsWhileComputing).toBe(!isFree);
    }
  });
});
