import type { JsonValue } from '../../common/json.ts';
import { isSplitting } from '../bucketing/bucketing.ts';
import type { Draw } from '../bucketing/draws.ts';
import type { Salt } from '../bucketing/sha1-lanes.ts';
import type {
  CohortFilter,
  Comparison,
  DependencyFilter,
  GroupFilter,
  NeverFilter,
  PersonCreatedAtFilter,
  PersonFilter,
  PreparedCohort,
  PreparedCondition,
  PreparedFilter,
  PreparedVariants,
} from '../model/snapshot.ts';
import { listFallbackKeys } from './derived-properties.ts';
import type { ParsedCondition, ParsedFilter } from './parse-filters.ts';
import { type MatcherTools, prepareMatcher } from './prepare-property.ts';
import { collectReads } from './stored-reads.ts';
import { NEVER_MATCHER } from './text-matchers.ts';

/** A filter that is well-formed but can never match. */
export const NEVER_FILTER: NeverFilter = { kind: 'never' };

/** What preparing a condition needs besides the condition itself. */
export interface ConditionTools extends PersonFilterTools {
  readonly variants: PreparedVariants;
  readonly cohorts: ReadonlyMap<number, PreparedCohort>;
  /** A draw of the flag for the person (null) or the group of a type. */
  readonly makeDraw: (salt: Salt, groupTypeIndex: number | null) => Draw;
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
    rolloutDraw: rolloutPercentage >= 100 ? null : tools.makeDraw('', parsed.groupTypeIndex),
    rolloutShare: rolloutPercentage / 100,
    pinnedVariant,
    variantDraw:
      pinnedVariant === -1 && variants.thresholds.length > 0
        ? tools.makeDraw('variant', parsed.groupTypeIndex)
        : null,
    isRolloutPartial: rolloutPercentage >= 0 && rolloutPercentage < 100,
    isVariantSplit: pinnedVariant === -1 && isSplitting(variants.thresholds),
    reads: collectReads(filters, tools.cohorts),
  };
}

/** A prepared filter on a person property or on the person's row. */
export type PreparedPersonFilter = PersonFilter | PersonCreatedAtFilter | NeverFilter;

/** What preparing person filters needs. */
export interface PersonFilterTools extends MatcherTools {
  /** Flags and cohorts often share a filter; each is prepared once. */
  readonly personFilters: Map<string, PreparedPersonFilter>;
}

/** Prepares a filter on a person property or on the person's row. */
export function preparePersonFilter(
  parsed: ParsedFilter,
  tools: PersonFilterTools,
): PreparedPersonFilter {
  const { type, key, operator, value } = parsed;
  if (!isPlain(value)) return createPersonFilter(parsed, tools);
  const name = JSON.stringify([type, key, operator, value]);
  const known = tools.personFilters.get(name);
  if (known !== undefined) return known;
  const made = createPersonFilter(parsed, tools);
  tools.personFilters.set(name, made);
  return made;
}

/** Whether a value is so shallow that its JSON can be written without overflowing the stack. */
function isPlain(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.every((element) => typeof element === 'string');
  return typeof value === 'number' ? Number.isFinite(value) : typeof value !== 'object';
}

function createPersonFilter(parsed: ParsedFilter, tools: MatcherTools): PreparedPersonFilter {
  const comparison = comparisonOf(parsed);
  const matcher = prepareMatcher(comparison.operator, comparison.value, tools);
  if (matcher === NEVER_MATCHER) return NEVER_FILTER;
  if (parsed.type === 'person_metadata') {
    if (parsed.key !== 'created_at') return NEVER_FILTER;
    return { kind: 'person_created_at', comparison, matcher };
  }
  return {
    kind: 'person',
    key: parsed.key,
    fallbackKeys: listFallbackKeys(parsed.key),
    comparison,
    matcher,
  };
}

function comparisonOf({ operator, value }: ParsedFilter): Comparison {
  return { operator: operator ?? 'exact', value };
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
  const comparison = comparisonOf(parsed);
  const matcher = prepareMatcher(comparison.operator, comparison.value, tools);
  // Without a group type there are no properties to look at.
  if (groupTypeIndex === null || matcher === NEVER_MATCHER) return NEVER_FILTER;
  return { kind: 'group', groupTypeIndex, key: parsed.key, comparison, matcher };
}

/** The id of the flag that a filter refers to; null when it does not refer to a flag. */
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
