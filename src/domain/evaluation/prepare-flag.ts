import type { FlagDefinition } from './definitions.ts';
import { OutcomeTable } from './outcomes.ts';
import type { FlagRuntime, PreparedFlag, PreparedRules } from './snapshot.ts';
import { isReadFree, mergeReads, NO_READS } from './stored-reads.ts';

const SURVEY_PREFIX = 'survey-targeting-';
const NO_RULES: PreparedRules = {
  conditions: [],
  variants: { keys: [], thresholds: [] },
  payloads: new Map(),
  holdout: null,
  enrollmentKey: null,
  hasEarlyExit: false,
  groupTypeIndex: null,
  dependencyIds: [],
  targetsBehaviouralCohort: false,
};

/** What a flag's place among the project's flags says about it. */
export interface FlagPlace {
  readonly position: number;
  readonly rank: number;
  readonly isCyclic: boolean;
  readonly isMissingDependency: boolean;
  readonly informsDependents: boolean;
}

/** Prepares one flag; `rules` null = its filters cannot be read, so that it always fails. */
export function prepareFlag(
  definition: FlagDefinition,
  rules: PreparedRules | null,
  place: FlagPlace,
): PreparedFlag {
  const flag: PreparedFlag = {
    id: definition.id,
    key: definition.key,
    version: definition.version,
    definition,
    position: place.position,
    rank: place.rank,
    isActive: definition.active,
    isSurveyTargeting: definition.key.startsWith(SURVEY_PREFIX),
    runtime: readRuntime(definition.evaluationRuntime),
    evaluationContexts: definition.evaluationContexts,
    isCyclic: place.isCyclic,
    informsDependents: place.informsDependents,
    settledBy: findSettlement(rules, place),
    rules: rules ?? NO_RULES,
    hashPrefix: `${definition.key}.`,
    ...describeBucketing(definition, rules ?? NO_RULES),
    ...describeReads(rules ?? NO_RULES),
    outcomes: new OutcomeTable(() => flag),
  };
  return flag;
}

function findSettlement(rules: PreparedRules | null, place: FlagPlace): PreparedFlag['settledBy'] {
  if (rules === null) return 'flag_data_parsing_error';
  return place.isMissingDependency ? 'missing_dependency' : null;
}

function readRuntime(name: string): FlagRuntime {
  const lower = name.toLowerCase();
  return lower === 'client' || lower === 'server' ? lower : 'all';
}

function describeBucketing(definition: FlagDefinition, rules: PreparedRules) {
  const personal = rules.conditions.filter((condition) => condition.groupTypeIndex === null);
  const isDeviceBucketed = definition.bucketingIdentifier === 'device_id';
  // A holdout of a person-based flag draws by the same identifier.
  const hasPersonalDraw =
    personal.length > 0 || (rules.holdout !== null && rules.groupTypeIndex === null);
  const isContinuityEffective =
    definition.active &&
    definition.ensureExperienceContinuity &&
    !isDeviceBucketed &&
    hasPersonalDraw;
  const isHashSignificant = personal.some(
    (condition) => condition.isRolloutPartial || condition.isVariantSplit,
  );
  return {
    isDeviceBucketed,
    isContinuityEffective,
    isHashSignificant,
    needsHashKeyOverride: isContinuityEffective && isHashSignificant,
  };
}

function describeReads(rules: PreparedRules) {
  const reads = mergeReads([
    ...rules.conditions.map((condition) => condition.reads),
    rules.enrollmentKey === null ? NO_READS : { ...NO_READS, personKeys: [rules.enrollmentKey] },
  ]);
  return {
    readsPersonKeys: new Set(reads.personKeys),
    readsGroupTypes: new Set(reads.groupProperties.map(({ index }) => index)),
    readsStaticCohorts: new Set(reads.staticCohortIds),
    readsNothingStored: isReadFree(reads),
  };
}
