import { describe, expect, it } from 'vitest';
import {
  aCohort,
  aCondition,
  aContext,
  aFlag,
  aProject,
  aStored,
  compileTestPattern,
} from '../../../../test/builders.ts';
import type { JsonObject } from '../../common/json.ts';
import type { EvaluationContext } from '../model/context.ts';
import type { FlagDefinition } from '../model/definitions.ts';
import { prepareSnapshot } from '../prepare/prepare.ts';
import { evaluateFlags } from './evaluate-flags.ts';
import { type ConditionTrace, traceConditions } from './trace-conditions.ts';

const NOW = new Date('2026-01-15T12:00:00Z');
const PLAN = { key: 'plan', type: 'person', operator: 'exact', value: 'pro' };
const COHORT = { key: 'id', type: 'cohort', operator: 'in', value: 7 };
const BASE = { key: '2', type: 'flag', operator: 'flag_evaluates_to', value: true };

function trace(
  groups: readonly JsonObject[],
  context: Partial<EvaluationContext> = {},
  flag: Partial<FlagDefinition> = {},
): readonly ConditionTrace[] {
  const project = aProject({
    flags: [
      aFlag({ filters: { groups }, ...flag }),
      aFlag({ id: 2, key: 'base', filters: { groups: [aCondition()] } }),
    ],
    cohorts: [aCohort({ id: 7, isStatic: true })],
    groupTypes: [{ index: 0, name: 'company' }],
  });
  const snapshot = prepareSnapshot(project, compileTestPattern);
  const subject = aContext(context);
  const evaluation = evaluateFlags(snapshot, subject, { now: NOW });
  return traceConditions(snapshot, subject, evaluation, NOW).get(1) ?? [];
}

const brief = (conditions: readonly ConditionTrace[]) =>
  conditions.map(({ isDecisive, verdict, alone }) => [isDecisive, verdict, alone.reason]);

describe('traceConditions', () => {
  it('looks at every condition, also behind the one that decided', () => {
    const groups = [
      aCondition({ properties: [PLAN], rollout_percentage: 0 }),
      aCondition({ properties: [{ ...PLAN, value: 'free' }] }),
      aCondition({ properties: [PLAN] }),
      aCondition(),
      aCondition({ aggregation_group_type_index: 0 }),
    ];
    expect(brief(trace(groups, { personProperties: { plan: 'pro' } }))).toEqual([
      [false, 'matched', 'out_of_rollout_bound'],
      [false, 'missed', 'no_condition_match'],
      [true, 'matched', 'condition_match'],
      [false, 'matched', 'condition_match'],
      [false, 'matched', 'no_group_type'],
    ]);
  });

  it('tells for each filter what it was compared with, whatever the order of matching', () => {
    const properties = [COHORT, PLAN, { ...PLAN, key: 'age', operator: 'gt', value: '30' }, BASE];
    const context = {
      personProperties: { plan: 'pro' },
      stored: aStored({ staticCohortIds: new Set([7]) }),
    };
    const [condition] = trace([aCondition({ properties })], context);
    const told = condition?.properties.map(({ property, actualValue, verdict }) => [
      property.key,
      actualValue,
      verdict,
    ]);
    expect(told).toEqual([
      ['plan', 'pro', 'matched'],
      ['age', null, 'missed'],
      ['2', true, 'matched'],
      ['id', true, 'matched'],
    ]);
  });

  it('says that what needs stored data is unknown while there is none', () => {
    const [condition] = trace([aCondition({ properties: [PLAN, COHORT] })], {
      stored: 'unavailable',
    });
    expect(condition).toMatchObject({
      isDecisive: false,
      verdict: 'unknown',
      alone: { failed: true },
      properties: [
        { verdict: 'unknown', actualValue: null },
        { verdict: 'unknown', actualValue: null },
      ],
    });
  });

  it('says that a filter on a cohort that does not exist is unknown, and goes on', () => {
    const groups = [aCondition({ properties: [{ ...COHORT, value: 8 }] }), aCondition()];
    expect(trace(groups).map(({ verdict }) => verdict)).toEqual(['unknown', 'matched']);
  });

  it('tells the value of a filter that can never match', () => {
    const properties = [{ ...PLAN, operator: 'in' }];
    const [condition] = trace([aCondition({ properties })], { personProperties: { plan: 'pro' } });
    expect(condition?.properties).toMatchObject([{ verdict: 'missed', actualValue: 'pro' }]);
  });

  it('finds no decisive condition where a holdout decided', () => {
    const filters = { groups: [aCondition()], holdout: { id: 1, exclusion_percentage: 100 } };
    expect(brief(trace([], {}, { filters }))).toEqual([[false, 'matched', 'condition_match']]);
  });

  it('has no condition of a flag whose filters cannot be read', () => {
    expect(trace([], {}, { filters: { groups: [{ properties: 'x' }] } })).toEqual([]);
  });
});
