import type { FlagDefinition } from '../model/definitions.ts';
import type {
  FlagRuntime,
  PreparedFlag,
  PreparedRules,
  PreparedVariants,
  StoredReads,
} from '../model/snapshot.ts';
import { OutcomeTable } from './outcome-table.ts';
import { isReadFree, mergeReads, NO_READS } from './stored-reads.ts';

const SURVEY_PREFIX = 'survey-targeting-';
/** Shared by all flags without variants. */
export const NO_VARIANTS: PreparedVariants = { keys: [], thresholds: [] };
const NO_RULES: PreparedRules = {
  conditions: [],
  variants: NO_VARIANTS,
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
  return new Flag(definition, rules ?? NO_RULES, place, findPreparationFailure(rules, place));
}

/** A class, so that all fields lie in the object itself; first those that each evaluation reads. */
class Flag implements PreparedFlag {
  readonly isActive: boolean;
  readonly isCyclic: boolean;
  readonly isSurveyTargeting: boolean;
  readonly informsDependents: boolean;
  readonly isDeviceBucketed: boolean;
  readonly isContinuityEffective: boolean;
  readonly runtime: FlagRuntime;
  readonly preparationFailure: PreparedFlag['preparationFailure'];
  readonly rules: PreparedRules;
  readonly outcomes: OutcomeTable;
  readonly evaluationContexts: readonly string[];
  readonly readsNothingStored: boolean;
  readonly needsHashKeyOverride: boolean;
  readonly isHashSignificant: boolean;
  readonly reads: StoredReads;
  readonly id: number;
  readonly key: string;
  readonly version: number;
  readonly position: number;
  readonly rank: number;
  readonly definition: FlagDefinition;

  constructor(
    definition: FlagDefinition,
    rules: PreparedRules,
    place: FlagPlace,
    preparationFailure: PreparedFlag['preparationFailure'],
  ) {
    const bucketing = describeBucketing(definition, rules);
    this.isActive = definition.active;
    this.isCyclic = place.isCyclic;
    this.isSurveyTargeting = definition.key.startsWith(SURVEY_PREFIX);
    this.informsDependents = place.informsDependents;
    this.isDeviceBucketed = bucketing.isDeviceBucketed;
    this.isContinuityEffective = bucketing.isContinuityEffective;
    this.runtime = readRuntime(definition.evaluationRuntime);
    this.preparationFailure = preparationFailure;
    this.rules = rules;
    this.outcomes = new OutcomeTable(this, rules);
    this.evaluationContexts = definition.evaluationContexts;
    this.reads = collectFlagReads(rules);
    this.readsNothingStored = isReadFree(this.reads);
    this.needsHashKeyOverride = bucketing.isContinuityEffective && bucketing.isHashSignificant;
    this.isHashSignificant = bucketing.isHashSignificant;
    this.id = definition.id;
    this.key = definition.key;
    this.version = definition.version;
    this.position = place.position;
    this.rank = place.rank;
    this.definition = definition;
  }
}

function findPreparationFailure(
  rules: PreparedRules | null,
  place: FlagPlace,
): PreparedFlag['preparationFailure'] {
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
  return { isDeviceBucketed, isContinuityEffective, isHashSignificant };
}

function collectFlagReads({ conditions, enrollmentKey }: PreparedRules): StoredReads {
  const reads = conditions.map((condition) => condition.reads);
  if (enrollmentKey !== null) reads.push({ ...NO_READS, personKeys: [enrollmentKey] });
  return mergeReads(reads);
}
