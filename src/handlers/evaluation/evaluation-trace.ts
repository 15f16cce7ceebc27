import type {
  ConditionTrace,
  PropertyTrace,
  TracedVerdict,
} from '../../domain/evaluation/match/trace-conditions.ts';
import type { Outcome } from '../../domain/evaluation/model/snapshot.ts';
import type { TracedEvaluation } from '../../domain/snapshots/trace-subject.ts';
import { type ExtraFields, type ReplyStamp, toFlagValue } from './evaluation-reply.ts';

/**
 * The newest shape of an evaluation, with what became of each condition. Property filters and the
 * values that they were compared with are left out: everybody who has a project's key can ask.
 */
export function serialiseTrace(
  { evaluation, conditions }: TracedEvaluation,
  stamp: ReplyStamp,
  extra: ExtraFields | null,
): string {
  const flags = evaluation.outcomes.map((outcome) => {
    const traces = conditions.get(outcome.flag.id) ?? [];
    return [
      outcome.flag.key,
      { ...toFlagValue(outcome), conditions: traces.map(toConditionBody) },
    ] as const;
  });
  return JSON.stringify({
    errorsWhileComputingFlags: evaluation.errorsWhileComputing,
    flags: Object.fromEntries(flags),
    ...stamp,
    ...extra,
  });
}

/** What became of a condition. */
export function toConditionBody(trace: ConditionTrace) {
  const { index, isDecisive, alone, rolloutPercentage } = trace;
  return {
    index,
    matched: isDecisive,
    properties_matched: isReached(alone) && trace.verdict === 'matched',
    explanation: explain(trace),
    rollout_percentage: rolloutPercentage,
    rollout_excluded: alone.reason === 'out_of_rollout_bound',
    variant: alone.variant,
  };
}

/** What became of a condition and of each of its property filters. */
export function toDetailedConditionBody(trace: ConditionTrace) {
  return { ...toConditionBody(trace), properties: trace.properties.map(toPropertyBody) };
}

/** A condition for groups is not looked at when the request names no group of its type. */
function isReached(alone: Outcome): boolean {
  return alone.reason !== 'no_group_type';
}

function explain({ index, isDecisive, verdict, alone }: ConditionTrace): string {
  if (isDecisive) return `Matched condition set ${index + 1}`;
  if (!isReached(alone)) return 'Passed over, because no group of its type was given';
  if (alone.failed) return `Could not be decided: ${alone.description}`;
  if (alone.reason === 'out_of_rollout_bound') {
    return 'Properties matched, but the rollout left this identifier out';
  }
  if (verdict === 'matched') return 'Properties matched, but something else decided the flag';
  return verdict === 'missed' ? 'Properties did not match' : 'Could not be decided';
}

function toPropertyBody({ property, actualValue, verdict }: PropertyTrace) {
  const { key, type, operator, value } = property;
  const isCohort = type === 'cohort';
  return {
    key: String(key),
    operator: typeof operator === 'string' ? operator : isCohort ? 'in' : 'exact',
    value: value ?? null,
    type: typeof type === 'string' ? type : 'person',
    actual_value: actualValue,
    matched: verdict === 'matched',
    explanation: PROPERTY_EXPLANATIONS[verdict],
  };
}

const PROPERTY_EXPLANATIONS: Readonly<Record<TracedVerdict, string>> = {
  matched: 'Matched',
  missed: 'Did not match',
  unknown: 'Could not be decided',
};
