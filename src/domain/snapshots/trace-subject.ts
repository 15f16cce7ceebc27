import { type Evaluation, evaluateFlags } from '../evaluation/match/evaluate-flags.ts';
import { storedDataNeeds } from '../evaluation/match/stored-data.ts';
import { type ConditionTrace, traceConditions } from '../evaluation/match/trace-conditions.ts';
import type { EvaluationContext } from '../evaluation/model/context.ts';
import { findStored, type SubjectEvaluation, type SubjectOptions } from './evaluate-subject.ts';
import type { ServedProject } from './load-definitions.ts';

/** An evaluation, and the result of each condition of its flags. */
export interface TracedEvaluation {
  readonly evaluation: Evaluation;
  /** By flag id. */
  readonly conditions: ReadonlyMap<number, readonly ConditionTrace[]>;
}

/**
 * Evaluates flags for one subject like `evaluateSubject`, reports the result of each condition, and
 * stores nothing.
 */
export async function traceSubject(
  context: SubjectEvaluation,
  served: ServedProject,
  request: EvaluationContext,
  options: SubjectOptions,
): Promise<TracedEvaluation> {
  const { snapshot } = served;
  const needs = storedDataNeeds(snapshot, request, options);
  const isReadOnly = { ...options, isReadOnly: true };
  const subject =
    needs === null
      ? request
      : { ...request, stored: await findStored(context, served, request, needs, isReadOnly) };
  const evaluation = evaluateFlags(snapshot, subject, options);
  return {
    evaluation,
    conditions: traceConditions(snapshot, subject, evaluation, options.now),
  };
}
