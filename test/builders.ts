import type { JsonObject } from '../src/domain/common/json.ts';
import {
  type EvaluationOptions,
  evaluateFlags,
} from '../src/domain/evaluation/match/evaluate-flags.ts';
import type { EvaluationContext, StoredData } from '../src/domain/evaluation/model/context.ts';
import type {
  CohortDefinition,
  CompilePattern,
  FlagDefinition,
  ProjectDefinitions,
} from '../src/domain/evaluation/model/definitions.ts';
import type { Outcome } from '../src/domain/evaluation/model/snapshot.ts';
import { prepareSnapshot } from '../src/domain/evaluation/prepare/prepare.ts';

/** A condition set that everyone matches. */
export function aCondition(overrides: JsonObject = {}): JsonObject {
  return { properties: [], rollout_percentage: 100, ...overrides };
}

/** An active flag, on for everyone. */
export function aFlag(overrides: Partial<FlagDefinition> = {}): FlagDefinition {
  return {
    id: 1,
    key: 'a-flag',
    version: 1,
    active: true,
    filters: { groups: [aCondition()] },
    ensureExperienceContinuity: false,
    bucketingIdentifier: 'distinct_id',
    evaluationRuntime: 'all',
    evaluationContexts: [],
    ...overrides,
  };
}

/** A dynamic cohort without filters. */
export function aCohort(overrides: Partial<CohortDefinition> = {}): CohortDefinition {
  return {
    id: 1,
    name: 'a cohort',
    isStatic: false,
    cohortType: null,
    filters: null,
    groups: [],
    ...overrides,
  };
}

/** A project in UTC without flags. */
export function aProject(overrides: Partial<ProjectDefinitions> = {}): ProjectDefinitions {
  return {
    projectId: 1,
    revision: 1,
    timezone: 'UTC',
    groupTypes: [],
    flags: [],
    cohorts: [],
    ...overrides,
  };
}

/** An identified person who sends nothing else and about whom nothing was looked up. */
export function aContext(overrides: Partial<EvaluationContext> = {}): EvaluationContext {
  return {
    distinctId: 'a-person',
    deviceId: null,
    anonDistinctId: null,
    personProperties: {},
    groups: {},
    groupProperties: {},
    runtime: 'all',
    evaluationContexts: [],
    stored: null,
    ...overrides,
  };
}

/** A look-up that found nothing. */
export function aStored(overrides: Partial<StoredData> = {}): StoredData {
  return {
    person: null,
    groups: new Map(),
    staticCohortIds: new Set(),
    hashKeyOverrides: new Map(),
    ...overrides,
  };
}

/** Compiles patterns with the platform's own engine; only for tests, it has no time bound. */
export const compileTestPattern: CompilePattern = (pattern) => {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return null;
  }
};

/** Evaluates a project's flags; outcomes by flag key. Now is 2026-01-15 12:00 UTC unless given. */
export function evaluateProject(
  project: Partial<ProjectDefinitions>,
  context: Partial<EvaluationContext> = {},
  options: Partial<EvaluationOptions> = {},
): { outcomes: Readonly<Record<string, Outcome>>; errorsWhileComputing: boolean } {
  const snapshot = prepareSnapshot(aProject(project), compileTestPattern);
  const evaluation = evaluateFlags(snapshot, aContext(context), {
    now: new Date('2026-01-15T12:00:00Z'),
    ...options,
  });
  return {
    outcomes: Object.fromEntries(evaluation.outcomes.map((each) => [each.flag.key, each])),
    errorsWhileComputing: evaluation.errorsWhileComputing,
  };
}

/** Evaluates one flag; throws when it is not among the outcomes. */
export function evaluateOne(
  flag: Partial<FlagDefinition>,
  context: Partial<EvaluationContext> = {},
  project: Partial<ProjectDefinitions> = {},
): Outcome {
  const definition = aFlag(flag);
  const flags = [...(project.flags ?? []), definition];
  const outcome = evaluateProject({ ...project, flags }, context).outcomes[definition.key];
  if (outcome === undefined) throw new Error(`No outcome for ${definition.key}.`);
  return outcome;
}
