import type { EvaluationContext, RequestRuntime } from '../model/context.ts';
import type { PreparedFlag, Snapshot } from '../model/snapshot.ts';

/** Which flags one call is about. */
export interface FlagSelection {
  /** Only these and what they depend on; unknown keys are ignored. Absent = every flag. */
  readonly flagKeys?: readonly string[];
  /** Only flags that target surveys. */
  readonly surveyFlagsOnly?: boolean;
}

/** The selected flags, each after those that it depends on. Filters are not applied yet. */
export function selectFlags(
  snapshot: Snapshot,
  flagKeys: readonly string[] | undefined,
): readonly PreparedFlag[] {
  if (flagKeys === undefined) return snapshot.evaluationOrder;
  const selected = new Set<PreparedFlag>();
  const pending = flagKeys.flatMap((key) => snapshot.flagsByKey.get(key) ?? []);
  for (let flag = pending.pop(); flag !== undefined; flag = pending.pop()) {
    if (!flag.isActive || selected.has(flag)) continue;
    selected.add(flag);
    for (const id of flag.rules.dependencyIds) {
      const dependency = snapshot.flagsById.get(id);
      if (dependency !== undefined) pending.push(dependency);
    }
  }
  return [...selected].sort((left, right) => left.rank - right.rank);
}

/**
 * Whether a flag is left out of this request: inactive, meant for another runtime or context, or no
 * survey flag where only those are asked for. An unknown runtime gets neither client-only nor
 * server-only flags.
 */
export function isFilteredOut(
  flag: PreparedFlag,
  context: EvaluationContext,
  surveyFlagsOnly: boolean,
): boolean {
  if (!flag.isActive || (surveyFlagsOnly && !flag.isSurveyTargeting)) return true;
  if (flag.runtime !== 'all' && !isAllowed(flag, context.runtime)) return true;
  const wanted = context.evaluationContexts;
  if (wanted.length === 0 || flag.evaluationContexts.length === 0) return false;
  return !flag.evaluationContexts.some((name) => wanted.includes(name));
}

function isAllowed(flag: PreparedFlag, runtime: RequestRuntime): boolean {
  return runtime === 'all' || runtime === flag.runtime;
}
