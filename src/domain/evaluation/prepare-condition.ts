import { isSplitting } from './bucketing.ts';
import { listFallbackKeys } from './derived-properties.ts';
import type { ParsedCondition, ParsedFilter } from './parse-filters.ts';
import { type MatcherTools, prepareMatcher } from './prepare-property.ts';
import type {
  CohortFilter,
  DependencyFilter,
  GroupFilter,
  NeverFilter,
  PersonCreatedAtFilter,
  PersonFilter,
  PreparedCohort,
  PreparedCondition,
  PreparedFilter,
  PreparedVariants,
} from './snapshot.ts';
import { collectReads } from './stored-reads.ts';
import { NEVER_MATCHER } from './text-matchers.ts';

/** A filter that is well-formed but can never match. */
export const NEVER_FILTER: NeverFilter = { kind: 'never' };

/** What preparing a condition needs besides the condition itself. */
export interface ConditionTools extends MatcherTools {
  readonly variants: PreparedVariants;
  readonly cohorts: ReadonlyMap<number, PreparedCohort>;
}

/** Prepares one condition set; `index` is its position in the flag. */
export function prepareCondition(
  parsed: ParsedCondition,
  index: number,
  tools: ConditionTools,
): PreparedCondition {
  const filters = orderFilters(
    markContradictions(parsed.filters.map((filter) => prepareFilter(filter, parsed, tools))),
  );
  const { variants } = tools;
  const pinnedVariant = parsed.variant === null ? -1 : variants.keys.indexOf(parsed.variant);
  const { rolloutPercentage } = parsed;
  return {
    index,
    groupTypeIndex: parsed.groupTypeIndex,
    filters,
    isFullRollout: rolloutPercentage >= 100,
    rolloutShare: rolloutPercentage / 100,
    pinnedVariant,
    isRolloutPartial: rolloutPercentage >= 0 && rolloutPercentage < 100,
    isVariantSplit: pinnedVariant === -1 && isSplitting(variants.thresholds),
    reads: collectReads(filters, tools.cohorts),
  };
}

/** Prepares a filter on a person property or on the person's row. */
export function preparePersonFilter(
  parsed: ParsedFilter,
  tools: MatcherTools,
): PersonFilter | PersonCreatedAtFilter | NeverFilter {
  const matcher = prepareMatcher(parsed.operator ?? 'exact', parsed.value, tools);
  if (matcher === NEVER_MATCHER) return NEVER_FILTER;
  if (parsed.type === 'person_metadata') {
    return parsed.key === 'created_at' ? { kind: 'person_created_at', matcher } : NEVER_FILTER;
  }
  return {
    kind: 'person',
    key: parsed.key,
    fallbackKeys: listFallbackKeys(parsed.key),
    matcher,
  };
}

function prepareFilter(
  parsed: ParsedFilter,
  condition: ParsedCondition,
  tools: ConditionTools,
): PreparedFilter {
  switch (parsed.type) {
    case 'group':
      return prepareGroupFilter(parsed, condition.groupTypeIndex, tools);
    case 'flag':
      return prepareDependencyFilter(parsed);
    case 'cohort':
      return prepareCohortFilter(parsed, tools.cohorts);
    default:
      return preparePersonFilter(parsed, tools);
  }
}

function prepareGroupFilter(
  parsed: ParsedFilter,
  conditionGroupTypeIndex: number | null,
  tools: MatcherTools,
): GroupFilter | NeverFilter {
  const groupTypeIndex = parsed.groupTypeIndex ?? conditionGroupTypeIndex;
  const matcher = prepareMatcher(parsed.operator ?? 'exact', parsed.value, tools);
  // Without a group type there are no properties to look at.
  if (groupTypeIndex === null || matcher === NEVER_MATCHER) return NEVER_FILTER;
  return { kind: 'group', groupTypeIndex, key: parsed.key, matcher };
}

/** The id of the flag that a filter refers to; null when it refers to none. */
export function readDependencyId(parsed: ParsedFilter): number | null {
  if (parsed.type !== 'flag' || !/^[0-9]{1,15}$/.test(parsed.key)) return null;
  return Number(parsed.key);
}

function prepareDependencyFilter(parsed: ParsedFilter): DependencyFilter | NeverFilter {
  const flagId = readDependencyId(parsed);
  const { value } = parsed;
  const isReadable = typeof value === 'boolean' || typeof value === 'string';
  if (flagId === null || !isReadable || parsed.operator !== 'flag_evaluates_to') {
    return NEVER_FILTER;
  }
  return { kind: 'flag', flagId, expected: value, isContradicted: false };
}

function prepareCohortFilter(
  parsed: ParsedFilter,
  cohorts: ReadonlyMap<number, PreparedCohort>,
): CohortFilter | NeverFilter {
  const operator = parsed.operator ?? 'in';
  if (operator !== 'in' && operator !== 'not_in') return NEVER_FILTER;
  const cohortId = typeof parsed.value === 'number' ? parsed.value : null;
  const isNegated = operator === 'not_in';
  if (cohortId === null) {
    return { kind: 'cohort', cohortId: -1, isNegated, failure: 'cohort_filters_parsing_error' };
  }
  const cohort = cohorts.get(cohortId);
  const failure = cohort === undefined ? 'dependency_not_found_cohort' : cohort.failure;
  return { kind: 'cohort', cohortId, isNegated, failure };
}

/** Two filters on one flag that cannot both hold: true or a variant against false, two variants. */
function markContradictions(filters: readonly PreparedFilter[]): readonly PreparedFilter[] {
  const dependencies = filters.filter((filter) => filter.kind === 'flag');
  if (dependencies.length < 2) return filters;
  return filters.map((filter) => {
    if (filter.kind !== 'flag') return filter;
    const isContradicted = dependencies.some(
      (other) => other.flagId === filter.flagId && excludes(other.expected, filter.expected),
    );
    return { ...filter, isContradicted };
  });
}

function excludes(left: boolean | string, right: boolean | string): boolean {
  if (typeof left === 'string' && typeof right === 'string') return left !== right;
  return (left === false) !== (right === false);
}

/** Cohorts cost most and are matched last; the rest keeps its stored order. */
function orderFilters(filters: readonly PreparedFilter[]): readonly PreparedFilter[] {
  const others = filters.filter((filter) => filter.kind !== 'cohort');
  return others.length === filters.length
    ? filters
    : [...others, ...filters.filter((filter) => filter.kind === 'cohort')];
}
