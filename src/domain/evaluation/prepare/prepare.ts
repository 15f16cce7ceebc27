import { accumulateShares } from '../bucketing/bucketing.ts';
import { DrawMaker } from '../bucketing/draws.ts';
import type { CompilePattern, FlagDefinition, ProjectDefinitions } from '../model/definitions.ts';
import type { PreparedCohort, PreparedFlag, PreparedRules, Snapshot } from '../model/snapshot.ts';
import { createWallClock } from '../values/wall-clock.ts';
import { orderDependencies } from './dependency-order.ts';
import { isSupportedVersion, MalformedFilters, parseFilters } from './parse-filters.ts';
import { prepareCohorts } from './prepare-cohort.ts';
import {
  type ConditionTools,
  type PersonFilterTools,
  prepareCondition,
  readDependencyId,
} from './prepare-condition.ts';
import { NO_VARIANTS, prepareFlag } from './prepare-flag.ts';
import { isReadFree } from './stored-reads.ts';

interface FlagTools extends PersonFilterTools {
  readonly cohorts: ReadonlyMap<number, PreparedCohort>;
  readonly draws: DrawMaker;
}

/**
 * Prepares a project's definitions for evaluation: everything that does not depend on a request is
 * done here, once. Never throws, whatever is stored: a flag whose filters cannot be read is prepared
 * as failed.
 */
export function prepareSnapshot(
  definitions: ProjectDefinitions,
  compilePattern: CompilePattern,
): Snapshot {
  const wallClock = createWallClock(definitions.timezone);
  const tools: PersonFilterTools = {
    compilePattern: createPatternCache(compilePattern),
    wallClock,
    personFilters: new Map(),
  };
  const cohorts = prepareCohorts(definitions.cohorts, tools);
  const flags = prepareFlags(definitions.flags, {
    ...tools,
    cohorts,
    draws: new DrawMaker(),
  });
  const active = flags.filter((flag) => flag.isActive);
  const evaluationOrder = [...active].sort((left, right) => left.rank - right.rank);
  return {
    projectId: definitions.projectId,
    revision: definitions.revision,
    timezone: definitions.timezone,
    groupTypes: definitions.groupTypes,
    groupTypeNames: new Map(definitions.groupTypes.map(({ index, name }) => [index, name])),
    flags,
    flagsByKey: new Map(flags.map((flag) => [flag.key, flag])),
    flagsById: new Map(flags.map((flag) => [flag.id, flag])),
    evaluationOrder,
    isDefinitionOrder: evaluationOrder.every((flag, at) => flag === active[at]),
    cohorts,
    continuityFlagKeys: active.filter((each) => each.isContinuityEffective).map(({ key }) => key),
    cyclicFlagKeys: active.filter((each) => each.isCyclic).map(({ key }) => key),
    personKeysRead: findPersonKeysRead(active),
    wallClock,
  };
}

function findPersonKeysRead(flags: readonly PreparedFlag[]): readonly string[] | null {
  const keys = new Set<string>();
  for (const { reads, needsHashKeyOverride, rules } of flags) {
    if (needsHashKeyOverride || rules.enrollmentKey !== null) return null;
    if (!isReadFree({ ...reads, personKeys: [] })) return null;
    for (const key of reads.personKeys) keys.add(key);
  }
  return [...keys];
}

/** Flags often share a pattern; each is compiled once. */
function createPatternCache(compilePattern: CompilePattern): CompilePattern {
  const compiled = new Map<string, ReturnType<CompilePattern>>();
  return (pattern) => {
    const known = compiled.get(pattern);
    if (known !== undefined) return known;
    const made = compilePattern(pattern);
    compiled.set(pattern, made);
    return made;
  };
}

function prepareFlags(
  definitions: readonly FlagDefinition[],
  tools: FlagTools,
): readonly PreparedFlag[] {
  const read = definitions.map((definition) => ({
    definition,
    rules: readRules(definition, tools),
  }));
  const sorted = orderDependencies(
    read.map(({ definition, rules }) => ({
      id: definition.id,
      // An inactive flag is false whatever it depends on.
      dependsOn: definition.active ? (rules?.dependencyIds ?? []) : [],
    })),
  );
  const ranks = new Map([...sorted.order, ...sorted.cyclic].map((id, rank) => [id, rank]));
  const dependedOn = new Set(read.flatMap(({ rules }) => rules?.dependencyIds ?? []));
  return read.map(({ definition, rules }, position) =>
    prepareFlag(definition, rules, {
      position,
      rank: ranks.get(definition.id) ?? position,
      isCyclic: sorted.cyclic.has(definition.id),
      isMissingDependency: sorted.missing.has(definition.id),
      // Filters in an unsupported format count as false for dependents, not as unknown.
      informsDependents: dependedOn.has(definition.id) && isSupportedVersion(definition.filters),
    }),
  );
}

/** null when the stored filters cannot be read. */
function readRules(definition: FlagDefinition, tools: FlagTools): PreparedRules | null {
  try {
    return prepareRules(definition, tools);
  } catch (error) {
    if (error instanceof MalformedFilters) return null;
    throw error;
  }
}

function prepareRules(definition: FlagDefinition, tools: FlagTools): PreparedRules {
  const parsed = parseFilters(definition.filters);
  const variants =
    parsed.variantKeys.length === 0
      ? NO_VARIANTS
      : { keys: parsed.variantKeys, thresholds: accumulateShares(parsed.variantPercentages) };
  const makeDraw: ConditionTools['makeDraw'] = (salt, groupTypeIndex) =>
    tools.draws.make(`${definition.key}.`, salt, describeSubject(definition, groupTypeIndex));
  const conditionTools = { ...tools, variants, makeDraw };
  const conditions = parsed.conditions.map((condition, index) =>
    prepareCondition(condition, index, conditionTools),
  );
  const allFilters = parsed.conditions.flatMap((condition) => condition.filters);
  const targeted = conditions.flatMap(({ filters: all }) =>
    all.flatMap((filter) => (filter.kind === 'cohort' ? [filter.cohortId] : [])),
  );
  const percentage = Math.min(100, Math.max(0, parsed.holdout?.percentage ?? 0));
  return {
    conditions,
    variants,
    payloads: parsed.payloads,
    holdout:
      parsed.holdout === null
        ? null
        : {
            variant: `holdout-${parsed.holdout.id}`,
            isFull: percentage === 100,
            share: percentage / 100,
          },
    enrollmentKey: parsed.hasEnrollment ? `$feature_enrollment/${definition.key}` : null,
    hasEarlyExit: parsed.hasEarlyExit,
    groupTypeIndex: parsed.groupTypeIndex,
    dependencyIds: [...new Set(allFilters.flatMap((filter) => readDependencyId(filter) ?? []))],
    targetsBehaviouralCohort: targeted.some(
      (id) => tools.cohorts.get(id)?.hasBehaviouralLeaf === true,
    ),
  };
}

/** Whose identifier a condition hashes, for flags that are evaluated together. */
function describeSubject(definition: FlagDefinition, groupTypeIndex: number | null): string {
  if (!definition.active) return 'nobody';
  if (groupTypeIndex !== null) return `group ${groupTypeIndex}`;
  if (definition.bucketingIdentifier === 'device_id') return 'device';
  return definition.ensureExperienceContinuity ? 'first identifier' : 'person';
}
