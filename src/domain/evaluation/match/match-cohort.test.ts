import { describe, expect, it } from 'vitest';
import {
  aCohort,
  aCondition,
  aFlag,
  aStored,
  evaluateOne,
  evaluateProject,
} from '../../../../test/builders.ts';
import type { JsonObject, JsonValue } from '../../common/json.ts';
import type { CohortDefinition } from '../model/definitions.ts';
import type { Outcome } from '../model/snapshot.ts';

const PRO = { key: 'plan', type: 'person', value: 'pro' };
const OLD = { key: 'age', type: 'person', operator: 'gt', value: 60 };
const all = (...values: JsonValue[]): JsonObject => ({ type: 'AND', values });
const any = (...values: JsonValue[]): JsonObject => ({ type: 'OR', values });
const member = (id: JsonValue, extra: JsonObject = {}): JsonObject => ({
  key: 'id',
  type: 'cohort',
  value: id,
  ...extra,
});
const dynamic = (id: number, properties: JsonValue): CohortDefinition =>
  aCohort({ id, filters: { properties } });

function evaluateCohort(
  cohorts: readonly CohortDefinition[],
  personProperties: JsonObject = {},
  filter: JsonObject = member(1),
): Outcome {
  const filters = { groups: [aCondition({ properties: [filter] })] };
  return evaluateOne({ filters }, { personProperties, stored: aStored() }, { cohorts });
}

describe('a dynamic cohort', () => {
  it.each<[string, JsonObject, JsonObject, boolean]>([
    ['AND of both', all(PRO, OLD), { plan: 'pro', age: 61 }, true],
    ['AND of one', all(PRO, OLD), { plan: 'pro' }, false],
    ['OR of one', any(PRO, OLD), { age: 61 }, true],
    ['OR of none', any(PRO, OLD), { age: 59 }, false],
    ['OR of ANDs', any(all(PRO, OLD), all({ ...PRO, value: 'vip' })), { plan: 'vip' }, true],
    ['four levels', all(any(all(any(PRO)))), { plan: 'pro' }, true],
    ['four levels, no member', all(any(all(any(PRO)))), { plan: 'free' }, false],
    ['"property" as AND', any({ type: 'property', values: [PRO, OLD] }), { plan: 'pro' }, false],
    ['a negated leaf', all({ ...PRO, negation: true }), { plan: 'free' }, true],
    ['a negated leaf, no member', all({ ...PRO, negation: true }), { plan: 'pro' }, false],
    ['a negated leaf without the property', all({ ...PRO, negation: true }), {}, true],
    ['a negated leaf in an OR', any({ ...PRO, negation: true }), { plan: 'pro' }, false],
    ['a negated group', all({ ...any(PRO, OLD), negation: true }), { age: 61 }, false],
    ['a malformed leaf', all({ type: 'person' }), {}, false],
    ['a malformed negated leaf', all({ type: 'person', negation: true }), {}, true],
    ['a leaf with an unknown operator', any({ ...PRO, operator: 'like' }), { plan: 'pro' }, false],
    ['a leaf of another type', any({ ...PRO, type: 'group' }), { plan: 'pro' }, false],
    ['a group without values', any({ type: 'AND' }), {}, false],
    ['an empty AND', all(), {}, true],
    ['an empty OR', any(), {}, false],
  ])('is matched by its tree: %s', (_, properties, person, expected) => {
    const outcome = evaluateCohort([dynamic(1, properties)], person);
    expect([outcome.enabled, outcome.failed]).toEqual([expected, false]);
  });

  it.each<JsonValue>([null, {}, [], 'x', { type: 'XOR', values: [] }, { type: 'AND' }, PRO])(
    'has no members when its filters cannot be read: %j',
    (properties) => {
      const outcome = evaluateCohort([dynamic(1, properties)], { plan: 'pro' });
      expect([outcome.enabled, outcome.reason]).toEqual([false, 'no_condition_match']);
      const outside = evaluateCohort(
        [dynamic(1, properties)],
        {},
        member(1, { operator: 'not_in' }),
      );
      expect(outside.enabled).toBe(true);
    },
  );

  it('reads stored and sent person properties, sent ones first', () => {
    const flag = { filters: { groups: [aCondition({ properties: [member(1)] })] } };
    const stored = aStored({ person: { properties: { plan: 'pro' }, createdAt: new Date(0) } });
    const project = { cohorts: [dynamic(1, all(PRO))] };
    expect(evaluateOne(flag, { stored }, project).enabled).toBe(true);
    expect(evaluateOne(flag, { stored, personProperties: { plan: 'free' } }, project).enabled).toBe(
      false,
    );
  });

  it('tests the person even in a group condition', () => {
    const filters = {
      aggregation_group_type_index: 0,
      groups: [aCondition({ properties: [member(1)] })],
    };
    const context = { groups: { company: 'acme' }, personProperties: { plan: 'pro' } };
    const project = {
      cohorts: [dynamic(1, all(PRO))],
      groupTypes: [{ index: 0, name: 'company' }],
    };
    expect(evaluateOne({ filters }, context, project).enabled).toBe(true);
  });

  it('is not torn down by absurd nesting', () => {
    let tree: JsonObject = all(PRO);
    for (let depth = 0; depth < 20_000; depth++) tree = { type: 'AND', values: [tree] };
    expect(evaluateCohort([dynamic(1, tree)], { plan: 'pro' }).enabled).toBe(false);
    const chain = Array.from({ length: 3000 }, (_, at) => dynamic(at + 1, all(member(at + 2))));
    const outcome = evaluateCohort([...chain, dynamic(3001, all(PRO))], { plan: 'pro' });
    expect([outcome.failed, outcome.reason]).toEqual([true, 'cohort_filters_parsing_error']);
  });
});

describe('a cohort in a cohort', () => {
  const inner = dynamic(2, all(PRO));

  it.each<[string, JsonObject, string, boolean]>([
    ['in an AND', all(member(2)), 'pro', true],
    ['in an AND', all(member(2)), 'free', false],
    ['negated in an AND', all(member(2, { negation: true })), 'pro', false],
    ['negated in an OR', any(member(2, { negation: true })), 'pro', false],
    ['negated in an OR', any(member(2, { negation: true })), 'free', true],
    ['by not_in', all(member(2, { operator: 'not_in' })), 'free', true],
    ['not by its number as text', all(member('2')), 'pro', false],
  ])('%s %j', (_, properties, plan, expected) => {
    expect(evaluateCohort([dynamic(1, properties), inner], { plan }).enabled).toBe(expected);
  });

  it('fails the flag when it does not exist or contains itself', () => {
    const missing = evaluateCohort([dynamic(1, any(member(404)))]);
    expect([missing.failed, missing.reason]).toEqual([true, 'dependency_not_found_cohort']);
    const cyclic = evaluateCohort([dynamic(1, any(member(2))), dynamic(2, any(member(1)))]);
    expect([cyclic.failed, cyclic.reason]).toEqual([true, 'dependency_cycle_cohort']);
  });
});

describe('an old cohort with groups only', () => {
  const old = (groups: JsonValue, filters: JsonObject | null = null) => [
    aCohort({ id: 1, filters, groups }),
  ];

  it.each<[string, JsonValue, JsonObject, boolean]>([
    ['groups are alternatives', [{ properties: [PRO] }, { properties: [OLD] }], { age: 61 }, true],
    ['properties of a group must all match', [{ properties: [PRO, OLD] }], { plan: 'pro' }, false],
    [
      'a leaf without type is about the person',
      [{ properties: [{ key: 'plan', value: 'pro' }] }],
      { plan: 'pro' },
      true,
    ],
    [
      'a leaf of type event is about the person',
      [{ properties: [{ ...PRO, type: 'event' }] }],
      { plan: 'pro' },
      true,
    ],
    ['an action never matches', [{ action_id: 5, properties: [PRO] }], { plan: 'pro' }, false],
    ['an event never matches', [{ event_id: '$pageview' }], {}, false],
    ['a group without properties never matches', [{}], {}, false],
    ['negation counts', [{ properties: [{ ...PRO, negation: true }] }], { plan: 'free' }, true],
    ['no groups, no members', [], {}, false],
    ['what is not a list has no members', 'x', {}, false],
  ])('%s', (_, groups, person, expected) => {
    expect(evaluateCohort(old(groups), person).enabled).toBe(expected);
    expect(evaluateCohort(old(groups, {}), person).enabled).toBe(expected);
  });

  it('is matched by its filters when it has both', () => {
    const cohorts = old([{ properties: [OLD] }], { properties: all(PRO) });
    expect(evaluateCohort(cohorts, { plan: 'pro' }).enabled).toBe(true);
    expect(evaluateCohort(cohorts, { age: 61 }).enabled).toBe(false);
  });
});

describe('a behavioural leaf', () => {
  const leaf = { type: 'behavioral', key: 'signup', value: 'performed_event' };

  it('is false, its negation true, and says so when nothing matched', () => {
    const outcome = evaluateCohort([dynamic(1, any(leaf, PRO))], {});
    expect(outcome.description).toMatch(/^This condition targets a behavioral/);
    expect(evaluateCohort([dynamic(1, any(leaf, PRO))], { plan: 'pro' }).enabled).toBe(true);
    expect(evaluateCohort([dynamic(1, all({ ...leaf, negation: true }))]).enabled).toBe(true);
  });

  it('is found in cohorts within cohorts, and of every kind', () => {
    const nested = evaluateCohort([
      dynamic(1, any(member(2))),
      dynamic(2, any({ ...leaf, type: 'lifecycle' })),
    ]);
    expect(nested.description).toMatch(/^This condition targets a behavioral/);
    expect(evaluateCohort([dynamic(1, any(PRO))]).description).toBe('No matching condition set');
  });
});

describe('a static cohort', () => {
  const isIn = (
    ids: number[],
    operator: string,
    cohort: Partial<CohortDefinition> = { isStatic: true },
  ) =>
    evaluateOne(
      { filters: { groups: [aCondition({ properties: [member(1, { operator })] })] } },
      { stored: aStored({ staticCohortIds: new Set(ids) }) },
      { cohorts: [aCohort({ id: 1, ...cohort })] },
    ).enabled;

  it('is decided by its list of members', () => {
    expect([isIn([1], 'in'), isIn([2], 'in'), isIn([], 'not_in'), isIn([1], 'not_in')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('ignores filters, and is known by its type too', () => {
    const filters = { properties: all() };
    expect(isIn([], 'in', { isStatic: true, filters })).toBe(false);
    expect(isIn([1], 'in', { cohortType: 'static' })).toBe(true);
  });

  it('has no unknown persons', () => {
    const flag = {
      filters: { groups: [aCondition({ properties: [member(1, { operator: 'not_in' })] })] },
    };
    const project = { cohorts: [aCohort({ id: 1, isStatic: true })] };
    expect(evaluateOne(flag, { stored: null }, project).enabled).toBe(true);
  });
});

describe('a cohort filter', () => {
  const cohorts = [dynamic(1, all(PRO)), dynamic(2, all(OLD))];
  const person = { plan: 'pro' };

  it.each<[JsonObject, boolean]>([
    [member(1), true],
    [member(1, { operator: null }), true],
    [member(1, { operator: 'in' }), true],
    [member(1, { operator: 'not_in' }), false],
    [member(2, { operator: 'not_in' }), true],
    [member(1, { operator: 'exact' }), false],
  ])('%j is %s for a member', (filter, expected) => {
    expect(evaluateCohort(cohorts, person, filter).enabled).toBe(expected);
  });

  it('must match together with all others', () => {
    const filters = { groups: [aCondition({ properties: [member(1), member(2)] })] };
    expect(evaluateOne({ filters }, { personProperties: person }, { cohorts }).enabled).toBe(false);
    expect(
      evaluateOne({ filters }, { personProperties: { ...person, age: 61 } }, { cohorts }).enabled,
    ).toBe(true);
  });

  it.each<[JsonObject, string, string]>([
    [member(404), 'dependency_not_found_cohort', 'Cohort dependency not found'],
    [member('1'), 'cohort_filters_parsing_error', 'Failed to parse cohort filters'],
    [member(null), 'cohort_filters_parsing_error', 'Failed to parse cohort filters'],
    [member(3), 'dependency_cycle_cohort', 'Cohort dependency cycle detected'],
  ])('%j fails the flag with %s', (filter, reason, description) => {
    const outcome = evaluateCohort([...cohorts, dynamic(3, all(member(3)))], person, filter);
    expect([outcome.failed, outcome.enabled, outcome.reason, outcome.description]).toEqual([
      true,
      false,
      reason,
      description,
    ]);
  });

  it('comes last, so that an earlier miss spares it', () => {
    const filters = { groups: [aCondition({ properties: [member(404), OLD] })] };
    expect(evaluateOne({ filters }, { personProperties: person }, { cohorts })).toMatchObject({
      failed: false,
      reason: 'no_condition_match',
    });
  });

  it('does not spoil the flags after it', () => {
    const filters = { groups: [aCondition({ properties: [member(404)] })] };
    const flags = [aFlag({ id: 1, key: 'bad', filters }), aFlag({ id: 2, key: 'good' })];
    const { outcomes } = evaluateProject({ flags, cohorts });
    expect([outcomes.bad?.failed, outcomes.good?.enabled]).toEqual([true, true]);
  });
});
