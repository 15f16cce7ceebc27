import type { Db } from '../domain/database/db.ts';
import { DomainError } from '../domain/errors.ts';
import type { EvaluationContext, StoredData } from '../domain/evaluation/context.ts';
import { type Evaluation, evaluateFlags } from '../domain/evaluation/evaluate-flags.ts';
import { storedDataNeeds } from '../domain/evaluation/stored-data.ts';
import { findStoredProperties } from '../domain/persons/persons-queries.ts';
import type { ServedProject } from '../domain/snapshots/load-definitions.ts';
import type { SnapshotStore } from '../domain/snapshots/snapshot-store.ts';
import { type Handlers, RawJson } from '../server/operation.ts';
import { serialiseFlagValues, serialiseLegacyFlagValues } from './evaluation-reply.ts';
import { type EvaluationInput, readEvaluationInput } from './evaluation-request.ts';

export interface EvaluationHandlersContext {
  readonly db: Db;
  readonly snapshots: SnapshotStore;
  readonly now: () => Date;
  /** Told how long the engine took, in seconds. */
  readonly observeEvaluation: (seconds: number) => void;
}

const NO_TOKEN = new DomainError(
  'not_authenticated',
  'No API token provided. Please include a valid API token in your request.',
);
const UNKNOWN_TOKEN = new DomainError(
  'authentication_failed',
  'The provided API key is invalid or has expired. Please check your API key and try again.',
);
const NO_DISTINCT_ID =
  'The distinct_id field is missing from the request. Please include a valid identifier.';

const NO_FLAGS: Evaluation = { outcomes: [], errorsWhileComputing: false };
const NO_STATIC_COHORTS: ReadonlySet<number> = new Set();
const NO_OVERRIDES: ReadonlyMap<string, string> = new Map();

/** The operation that SDKs ask for the values of flags. */
export function createEvaluationHandlers(
  context: EvaluationHandlersContext,
): Pick<Handlers, 'evaluateFlags'> {
  return {
    async evaluateFlags({ query, body, origin, reply }) {
      const input = readEvaluationInput(body, origin.headers);
      if (input.token === null) throw NO_TOKEN;
      const served =
        context.snapshots.getByToken(input.token) ??
        (await context.snapshots.findByToken(input.token));
      if (served === undefined) throw UNKNOWN_TOKEN;
      if (input.distinctId === null && !input.isDisabled) return reply(400, NO_DISTINCT_ID);
      const evaluation = input.isDisabled ? NO_FLAGS : await evaluate(context, served, input);
      const stamp = { requestId: origin.requestId, evaluatedAt: context.now().getTime() };
      const serialise = isLegacy(query.v) ? serialiseLegacyFlagValues : serialiseFlagValues;
      return reply(200, new RawJson(serialise(evaluation, stamp)));
    },
  };
}

/** Text that is no number counts as version 1. */
function isLegacy(version: string | undefined): boolean {
  if (version === undefined || version === '') return false;
  return !(Number.parseInt(version, 10) >= 2);
}

/** Decides the flags on one snapshot, with at most one round trip to the database before. */
async function evaluate(
  context: EvaluationHandlersContext,
  served: ServedProject,
  input: EvaluationInput,
): Promise<Evaluation> {
  const request = input.contextFor(input.distinctId ?? '');
  const selection = input.flagKeys === null ? {} : { flagKeys: input.flagKeys };
  const needs = storedDataNeeds(served.snapshot, request, selection);
  const subject =
    needs === null
      ? request
      : { ...request, stored: await findStored(context.db, served.project.id, request, needs) };
  const startedAt = performance.now();
  const evaluation = evaluateFlags(served.snapshot, subject, { ...selection, now: context.now() });
  context.observeEvaluation((performance.now() - startedAt) / 1_000);
  return evaluation;
}

/** What is stored about the subject. An outage fails the flags that need it, and only those. */
async function findStored(
  db: Db,
  projectId: number,
  request: EvaluationContext,
  needs: NonNullable<ReturnType<typeof storedDataNeeds>>,
): Promise<StoredData | 'unavailable'> {
  try {
    const { distinctId } = request;
    const found = await findStoredProperties(db, projectId, { distinctId, groups: needs.groups });
    return { ...found, staticCohortIds: NO_STATIC_COHORTS, hashKeyOverrides: NO_OVERRIDES };
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'unavailable') return 'unavailable';
    throw error;
  }
}
