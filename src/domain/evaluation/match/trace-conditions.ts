import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import type { EvaluationContext } from '../model/context.ts';
import type {
  Outcome,
  PreparedCondition,
  PreparedFilter,
  PreparedFlag,
  Snapshot,
} from '../model/snapshot.ts';
import { evaluateFlag } from './evaluate-flag.ts';
import type { Evaluation } from './evaluate-flags.ts';
import { matchCondition } from './match-condition.ts';
import {
  MATCH,
  MISS,
  type PropertyValue,
  RequestView,
  UNAVAILABLE,
  type Verdict,
} from './request-view.ts';

/** The result of a filter, or of all filters of a condition. */
export type TracedVerdict = 'matched' | 'missed' | 'unknown';

/** The result of one property filter. */
export interface PropertyTrace {
  /** The filter as it is stored. */
  readonly property: JsonObject;
  /** What it was compared with; null when there is nothing, or nothing is known. */
  readonly actualValue: JsonValue;
  readonly verdict: TracedVerdict;
}

/** The result of one condition. */
export interface ConditionTrace {
  readonly index: number;
  /** Whether this condition decided the flag. */
  readonly isDecisive: boolean;
  readonly verdict: TracedVerdict;
  /** What the flag would be if it had this condition and nothing else. */
  readonly alone: Outcome;
  readonly rolloutPercentage: number;
  readonly properties: readonly PropertyTrace[];
}

/**
 * The result of each condition of the flags that were evaluated, by flag id. This looks at every
 * condition and filter again, by the same rules: evaluation itself stops as early as it can and
 * records nothing. The context is the one that was evaluated.
 */
export function traceConditions(
  snapshot: Snapshot,
  context: EvaluationContext,
  { outcomes }: Evaluation,
  now: Date,
): ReadonlyMap<number, readonly ConditionTrace[]> {
  const view = new RequestView(snapshot, context, now);
  for (const outcome of outcomes) view.dependencyOutcomes.set(outcome.flag.id, outcome);
  return new Map(
    outcomes.map((outcome) => [
      outcome.flag.id,
      outcome.flag.rules.conditions.map((condition) => traceCondition(outcome, condition, view)),
    ]),
  );
}

function traceCondition(
  outcome: Outcome,
  condition: PreparedCondition,
  view: RequestView,
): ConditionTrace {
  const { flag } = outcome;
  const stored = storedCondition(flag, condition.index);
  const { rollout_percentage: percentage } = stored;
  return {
    index: condition.index,
    isDecisive: outcome.reason === 'condition_match' && outcome.conditionIndex === condition.index,
    verdict: decide(condition, view),
    alone: evaluateFlag(withOnly(flag, condition), view),
    rolloutPercentage: typeof percentage === 'number' ? percentage : 100,
    properties: inOrderOfMatching(stored).flatMap((property, place) => {
      const filter = condition.filters[place];
      return filter === undefined ? [] : [traceProperty(property, filter, condition, view)];
    }),
  };
}

/** The flag as if it had this condition and nothing else to be decided by. */
function withOnly(flag: PreparedFlag, condition: PreparedCondition): PreparedFlag {
  return {
    ...flag,
    preparationFailure: null,
    rules: { ...flag.rules, enrollmentKey: null, holdout: null, conditions: [condition] },
  };
}

function traceProperty(
  property: JsonObject,
  filter: PreparedFilter,
  condition: PreparedCondition,
  view: RequestView,
): PropertyTrace {
  const verdict = decide({ ...condition, filters: [filter] }, view);
  return { property, verdict, actualValue: readActualValue(property, filter, verdict, view) };
}

function decide(condition: PreparedCondition, view: RequestView): TracedVerdict {
  const verdict: Verdict = matchCondition(condition, view);
  const isFailure = view.failure !== null;
  view.failure = null;
  if (isFailure) return 'unknown';
  if (verdict === MATCH) return 'matched';
  return verdict === MISS ? 'missed' : 'unknown';
}

function readActualValue(
  property: JsonObject,
  filter: PreparedFilter,
  verdict: TracedVerdict,
  view: RequestView,
): JsonValue {
  switch (filter.kind) {
    case 'person':
      return toJson(view.readPerson(filter));
    case 'person_created_at':
      return toJson(view.readPersonCreatedAt());
    case 'group':
      return toJson(view.readGroup(filter.groupTypeIndex, filter.key));
    case 'flag':
      return dependencyValue(view.dependencyOutcomes.get(filter.flagId));
    case 'cohort':
      // Whether the person is a member.
      return verdict === 'unknown' ? null : (verdict === 'matched') !== filter.isNegated;
    case 'never':
      return (property.type ?? 'person') === 'person'
        ? toJson(view.readPerson({ key: String(property.key), fallbackKeys: [] }))
        : null;
  }
}

/** The value of a dependency; one that was not evaluated counts as false. */
function dependencyValue(outcome: Outcome | undefined): JsonValue {
  if (outcome === undefined) return false;
  return outcome.failed ? null : (outcome.variant ?? outcome.enabled);
}

function toJson(value: PropertyValue): JsonValue {
  return value === undefined || value === UNAVAILABLE ? null : value;
}

/** The stored condition at this place; only flags whose filters can be read have conditions. */
function storedCondition(flag: PreparedFlag, index: number): JsonObject {
  const { groups } = flag.definition.filters;
  const condition: JsonValue = Array.isArray(groups) ? (groups[index] ?? null) : null;
  return isJsonObject(condition) ? condition : {};
}

/** The stored property filters in the order of the prepared ones: cohorts after all others. */
function inOrderOfMatching(condition: JsonObject): JsonObject[] {
  const properties = Array.isArray(condition.properties)
    ? condition.properties.filter(isJsonObject)
    : [];
  return [
    ...properties.filter((property) => !isCohortFilter(property)),
    ...properties.filter(isCohortFilter),
  ];
}

/** A cohort filter with another operator can never match, and is prepared as that. */
function isCohortFilter({ type, operator = null }: JsonObject): boolean {
  return type === 'cohort' && (operator === null || operator === 'in' || operator === 'not_in');
}
