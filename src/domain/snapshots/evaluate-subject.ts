import { Refusal } from '../common/refusal.ts';
import type { Db } from '../database/db.ts';
import { type Evaluation, evaluateFlags } from '../evaluation/match/evaluate-flags.ts';
import { type StoredDataNeeds, storedDataNeeds } from '../evaluation/match/stored-data.ts';
import type { EvaluationContext, StoredData } from '../evaluation/model/context.ts';
import { findStoredData } from '../persons/stored-data/find-stored-data.ts';
import type { LoadStoredData } from '../persons/stored-data/stored-data-loader.ts';
import type { ServedProject } from './load-definitions.ts';

/** What evaluating a subject needs. */
export interface SubjectEvaluation {
  readonly db: Db;
  readonly loadStoredData: LoadStoredData;
  readonly now: () => Date;
  /** Called with the time that the engine took, in seconds. */
  readonly observeEvaluation: (seconds: number) => void;
}

export interface SubjectOptions {
  /** The moment that relative dates are counted from. */
  readonly now: Date;
  /** Only these flags and what they depend on. Absent means all. */
  readonly flagKeys?: readonly string[];
  /** Only flags that target surveys. */
  readonly surveyFlagsOnly?: boolean;
  /** Leaves out what is stored about the person, and stores nothing. */
  readonly onlyOverrides?: boolean;
  /** Stores nothing, not even the first identifier of a person. */
  readonly isReadOnly?: boolean;
}

const MS_PER_SECOND = 1_000;

/**
 * Evaluates the flags of one revision for one subject, after at most one round trip to the database:
 * none when no stored data could change an answer, and then synchronously.
 */
export function evaluateSubject(
  context: SubjectEvaluation,
  served: ServedProject,
  request: EvaluationContext,
  options: SubjectOptions,
): Evaluation | Promise<Evaluation> {
  const needs = storedDataNeeds(served.snapshot, request, options);
  if (needs === null) return decide(context, served, request, options);
  return findStored(context, served, request, needs, options).then((stored) =>
    decide(context, served, { ...request, stored }, options),
  );
}

function decide(
  context: SubjectEvaluation,
  served: ServedProject,
  subject: EvaluationContext,
  options: SubjectOptions,
): Evaluation {
  const startedAt = performance.now();
  const evaluation = evaluateFlags(served.snapshot, subject, options);
  context.observeEvaluation((performance.now() - startedAt) / MS_PER_SECOND);
  return evaluation;
}

/** What is stored about the subject. An outage fails the flags that need it, and only those. */
export async function findStored(
  context: SubjectEvaluation,
  served: ServedProject,
  request: EvaluationContext,
  needs: StoredDataNeeds,
  { onlyOverrides = false, isReadOnly = false }: Omit<SubjectOptions, 'now'>,
): Promise<StoredData | 'unavailable'> {
  try {
    const source = { db: context.db, load: context.loadStoredData };
    const writing = { mayWrite: !onlyOverrides && !isReadOnly };
    const stored = await findStoredData(source, served.snapshot, request, needs, writing);
    return onlyOverrides ? { ...stored, person: null } : stored;
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unavailable') return 'unavailable';
    throw error;
  }
}
