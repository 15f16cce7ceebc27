import type { EvaluationContext } from '../model/context.ts';
import type { Outcome, Snapshot } from '../model/snapshot.ts';
import { evaluateFlag } from './evaluate-flag.ts';
import { RequestView } from './request-view.ts';
import { type FlagSelection, isFilteredOut, selectFlags } from './select-flags.ts';

/** Which flags to evaluate, and as of when. */
export interface EvaluationOptions extends FlagSelection {
  readonly now: Date;
}

/** The outcomes of one call. */
export interface Evaluation {
  /** In definition order, without the flags that the request filters out. */
  readonly outcomes: readonly Outcome[];
  /** A flag failed, or was left out because its dependencies form a cycle. */
  readonly errorsWhileComputing: boolean;
}

/**
 * Evaluates flags for one subject. Pure: the answer depends on nothing but the arguments. Flags
 * that are filtered out count as false for the flags that depend on them.
 */
export function evaluateFlags(
  snapshot: Snapshot,
  context: EvaluationContext,
  options: EvaluationOptions,
): Evaluation {
  const view = new RequestView(snapshot, context, options.now);
  const surveyFlagsOnly = options.surveyFlagsOnly === true;
  const outcomes: Outcome[] = [];
  let errorsWhileComputing = false;
  for (const flag of selectFlags(snapshot, options.flagKeys)) {
    if (isFilteredOut(flag, context, surveyFlagsOnly)) continue;
    if (flag.isCyclic) {
      errorsWhileComputing = true;
      continue;
    }
    const outcome = evaluateFlag(flag, view);
    if (outcome.failed) errorsWhileComputing = true;
    if (flag.informsDependents) view.dependencyOutcomes.set(flag.id, outcome);
    outcomes.push(outcome);
  }
  if (!snapshot.isDefinitionOrder) {
    outcomes.sort((left, right) => left.flag.position - right.flag.position);
  }
  return { outcomes, errorsWhileComputing };
}
