import type { JsonValue } from '../../common/json.ts';
import type { CompilePattern } from '../model/definitions.ts';
import { OPERATORS, type Operator, type OperatorTest } from '../model/operators.ts';
import type { PropertyMatcher } from '../model/property-matcher.ts';
import { parseDate, readInstant, toInstant } from '../values/date-value.ts';
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
  const { test, negates, value: wanted } = OPERATORS[operator];
  const given = value ?? null;
  if (given === null && wanted !== 'none') return NEVER_MATCHER;
  return MATCHER_OF[test](given, negates, tools);
}

/** Makes the matcher of a test from the value of a filter, or the one of its negation. */
type CreateMatcher = (value: JsonValue, isNegated: boolean, tools: MatcherTools) => PropertyMatcher;

const MATCHER_OF: Readonly<Record<OperatorTest, CreateMatcher>> = {
  exact: createExactMatcher,
  is_set: createPresenceMatcher,
  icontains: createContainsMatcher,
  icontains_multi: createContainsAnyMatcher,
  starts_with: createPrefixMatcher,
  ends_with: createSuffixMatcher,
  regex: (value, isNegated, tools) => createRegexMatcher(value, isNegated, tools.compilePattern),
  gt: numberMatcher((property, bound) => property > bound),
  gte: numberMatcher((property, bound) => property >= bound),
  lt: numberMatcher((property, bound) => property < bound),
  lte: numberMatcher((property, bound) => property <= bound),
  between: createBetweenMatcher,
  semver_eq: versionMatcher((version, base) => compareVersions(version, base) === 0),
  semver_neq: versionMatcher((version, base) => compareVersions(version, base) !== 0),
  semver_gt: versionMatcher((version, base) => compareVersions(version, base) > 0),
  semver_gte: versionMatcher((version, base) => compareVersions(version, base) >= 0),
  semver_lt: versionMatcher((version, base) => compareVersions(version, base) < 0),
  semver_lte: versionMatcher((version, base) => compareVersions(version, base) <= 0),
  semver_tilde: versionMatcher(isInTildeRange),
  semver_caret: versionMatcher(isInCaretRange),
  semver_wildcard: (value) => createVersionMatcher(value, parseWildcard, isInWildcard),
  is_date_exact: dateMatcher((instant, limit) => instant === limit),
  is_date_before: dateMatcher((instant, limit) => instant < limit),
  is_date_after: dateMatcher((instant, limit) => instant > limit),
  in: () => NEVER_MATCHER,
  flag_evaluates_to: () => NEVER_MATCHER,
};

function numberMatcher(compare: (property: number, bound: number) => boolean): CreateMatcher {
  return (value) => createNumberMatcher(value, compare);
}

function versionMatcher(compare: (version: Version, base: Version) => boolean): CreateMatcher {
  return (value) => createVersionMatcher(value, parseVersion, compare);
}

/** Compares whole instants, not days; a value or property that is not a date matches nothing. */
function dateMatcher(compare: (instant: number, limit: number) => boolean): CreateMatcher {
  return (value, _isNegated, { wallClock }) => {
    const bound = typeof value === 'string' ? parseDate(value, wallClock) : null;
    if (bound === null) return NEVER_MATCHER;
    return {
      whenMissing: false,
      matches: (property, clock) => {
        const instant = readInstant(property, clock);
        if (instant === null) return false;
        const limit = toInstant(bound, clock);
        return limit !== null && compare(instant, limit);
      },
    };
  };
}

/** Compares versions; a value or property that is not a version matches nothing. */
function createVersionMatcher<Base>(
  value: JsonValue,
  parseBase: (text: string) => Base | null,
  compare: (version: Version, base: Base) => boolean,
): PropertyMatcher {
  const text = toText(value);
  const base = text === null ? null : parseBase(text);
  if (base === null) return NEVER_MATCHER;
  return {
    whenMissing: false,
    matches: (property) => {
      const propertyText = toText(property);
      const version = propertyText === null ? null : parseVersion(propertyText);
      return version !== null && compare(version, base);
    },
  };
}
