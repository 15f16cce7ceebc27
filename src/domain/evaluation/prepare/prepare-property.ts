import type { JsonValue } from '../../common/json.ts';
import type { CompilePattern } from '../model/definitions.ts';
import type { Operator } from '../model/operators.ts';
import type { PropertyMatcher } from '../model/property-matcher.ts';
import { type DateBound, parseDate, readInstant, toInstant } from '../values/date-value.ts';
import {
  compareVersions,
  isInCaretRange,
  isInTildeRange,
  isInWildcard,
  parseVersion,
  parseWildcard,
  type Version,
} from '../values/semver.ts';
import { toText } from '../values/value-text.ts';
import type { WallClock } from '../values/wall-clock.ts';
import {
  createBetweenMatcher,
  createContainsAnyMatcher,
  createContainsMatcher,
  createExactMatcher,
  createNumberMatcher,
  createPrefixMatcher,
  createPresenceMatcher,
  createRegexMatcher,
  createSuffixMatcher,
  NEVER_MATCHER,
} from './text-matchers.ts';

/** What preparing a comparison needs besides the filter itself. */
export interface MatcherTools {
  readonly compilePattern: CompilePattern;
  readonly wallClock: WallClock;
}

/**
 * Prepares one comparison. An operator that needs a value and has none, or one that does not
 * compare properties (`in`, `not_in`, `flag_evaluates_to`), never matches.
 */
export function prepareMatcher(
  operator: Operator,
  value: JsonValue | undefined,
  tools: MatcherTools,
): PropertyMatcher {
  if (operator === 'is_set') return createPresenceMatcher(false);
  if (operator === 'is_not_set') return createPresenceMatcher(true);
  if (value === undefined || value === null) return NEVER_MATCHER;
  switch (operator) {
    case 'exact':
    case 'is_not':
      return createExactMatcher(value, operator === 'is_not');
    case 'icontains':
    case 'not_icontains':
      return createContainsMatcher(value, operator === 'not_icontains');
    case 'icontains_multi':
    case 'not_icontains_multi':
      return createContainsAnyMatcher(value, operator === 'not_icontains_multi');
    case 'starts_with':
    case 'not_starts_with':
      return createPrefixMatcher(value, operator === 'not_starts_with');
    case 'ends_with':
    case 'not_ends_with':
      return createSuffixMatcher(value, operator === 'not_ends_with');
    case 'regex':
    case 'not_regex':
      return createRegexMatcher(value, operator === 'not_regex', tools.compilePattern);
    case 'gt':
      return createNumberMatcher(value, (property, bound) => property > bound);
    case 'gte':
      return createNumberMatcher(value, (property, bound) => property >= bound);
    case 'lt':
      return createNumberMatcher(value, (property, bound) => property < bound);
    case 'lte':
      return createNumberMatcher(value, (property, bound) => property <= bound);
    case 'between':
    case 'not_between':
      return createBetweenMatcher(value, operator === 'not_between');
    case 'in':
    case 'not_in':
    case 'flag_evaluates_to':
      return NEVER_MATCHER;
    case 'is_date_exact':
    case 'is_date_before':
    case 'is_date_after':
      return createDateMatcher(operator, value, tools.wallClock);
    default:
      return createVersionMatcher(operator, value);
  }
}

type DateOperator = 'is_date_exact' | 'is_date_before' | 'is_date_after';

/** Compares whole instants, not days; what is no date matches nothing. */
function createDateMatcher(
  operator: DateOperator,
  value: JsonValue,
  wallClock: WallClock,
): PropertyMatcher {
  const bound: DateBound | null = typeof value === 'string' ? parseDate(value, wallClock) : null;
  if (bound === null) return NEVER_MATCHER;
  return {
    whenMissing: false,
    matches: (property, clock) => {
      const instant = readInstant(property, clock);
      if (instant === null) return false;
      const limit = toInstant(bound, clock);
      if (limit === null) return false;
      if (operator === 'is_date_exact') return instant === limit;
      return operator === 'is_date_before' ? instant < limit : instant > limit;
    },
  };
}

type VersionOperator = Extract<Operator, `semver_${string}`>;
type VersionTest = (version: Version) => boolean;

/** Compares versions; a property that is no version matches nothing, `semver_neq` included. */
function createVersionMatcher(operator: VersionOperator, value: JsonValue): PropertyMatcher {
  const text = toText(value);
  const test = text === null ? null : createVersionTest(operator, text);
  if (test === null) return NEVER_MATCHER;
  return {
    whenMissing: false,
    matches: (property) => {
      const propertyText = toText(property);
      const version = propertyText === null ? null : parseVersion(propertyText);
      return version !== null && test(version);
    },
  };
}

function createVersionTest(operator: VersionOperator, text: string): VersionTest | null {
  if (operator === 'semver_wildcard') {
    const fixed = parseWildcard(text);
    return fixed === null ? null : (version) => isInWildcard(version, fixed);
  }
  const base = parseVersion(text);
  if (base === null) return null;
  switch (operator) {
    case 'semver_eq':
      return (version) => compareVersions(version, base) === 0;
    case 'semver_neq':
      return (version) => compareVersions(version, base) !== 0;
    case 'semver_gt':
      return (version) => compareVersions(version, base) > 0;
    case 'semver_gte':
      return (version) => compareVersions(version, base) >= 0;
    case 'semver_lt':
      return (version) => compareVersions(version, base) < 0;
    case 'semver_lte':
      return (version) => compareVersions(version, base) <= 0;
    case 'semver_tilde':
      return (version) => isInTildeRange(version, base);
    case 'semver_caret':
      return (version) => isInCaretRange(version, base);
  }
}
