import type { JsonValue } from '../../common/json.ts';
import type { CompilePattern } from '../model/definitions.ts';
import type { PropertyMatcher } from '../model/property-matcher.ts';
import { isBooleanLike, isTruthy, toAsciiLower, toNumber, toText } from '../values/value-text.ts';

/** Tests a property's text; false for a value without text, negated or not. */
type TextTest = (text: string) => boolean;

/** Never matches, present or missing. */
export const NEVER_MATCHER: PropertyMatcher = { whenMissing: false, matches: () => false };

/**
 * `exact` and `is_not`. A boolean-like filter compares truthiness; an array matches when one of its
 * elements equals the property; otherwise texts are equal. Texts ignore case (Unicode).
 */
export function createExactMatcher(value: JsonValue, isNegated: boolean): PropertyMatcher {
  if (isBooleanLike(value)) {
    const expected = isTruthy(value) !== isNegated;
    return {
      whenMissing: isNegated,
      matches: (property) => isTruthy(property) === expected,
    };
  }
  const wanted = new Set<string>();
  for (const element of Array.isArray(value) ? value : [value]) {
    const text = toText(element);
    if (text !== null) wanted.add(text.toLowerCase());
  }
  const [only] = wanted;
  return wanted.size === 1 && only !== undefined
    ? new TextEquality(only, isNegated)
    : createTextSetMatcher(wanted, isNegated);
}

/** The commonest comparison of all, in one object. */
class TextEquality implements PropertyMatcher {
  readonly whenMissing: boolean;
  readonly #lower: string;

  constructor(lower: string, isNegated: boolean) {
    this.whenMissing = isNegated;
    this.#lower = lower;
  }

  matches(property: JsonValue): boolean {
    // Lower case stays as it is.
    const isEqual = property === this.#lower || toText(property)?.toLowerCase() === this.#lower;
    return isEqual !== this.whenMissing;
  }
}

function createTextSetMatcher(wanted: ReadonlySet<string>, isNegated: boolean): PropertyMatcher {
  return {
    whenMissing: isNegated,
    matches: (property) => {
      const text = toText(property);
      return (text !== null && wanted.has(text.toLowerCase())) !== isNegated;
    },
  };
}

/** `is_set` and `is_not_set`; a null property is set. */
export function createPresenceMatcher(_value: JsonValue, isNegated: boolean): PropertyMatcher {
  return { whenMissing: isNegated, matches: () => !isNegated };
}

/** `icontains` and `not_icontains`: substring, ignoring the case of A to Z. */
export function createContainsMatcher(value: JsonValue, isNegated: boolean): PropertyMatcher {
  return createAsciiMatcher(value, isNegated, (needle) => (text) => text.includes(needle));
}

/** `starts_with` and `not_starts_with`: prefix, ignoring the case of A to Z. */
export function createPrefixMatcher(value: JsonValue, isNegated: boolean): PropertyMatcher {
  return createAsciiMatcher(value, isNegated, (needle) => (text) => text.startsWith(needle));
}

/** `ends_with` and `not_ends_with`: suffix, ignoring the case of A to Z. */
export function createSuffixMatcher(value: JsonValue, isNegated: boolean): PropertyMatcher {
  return createAsciiMatcher(value, isNegated, (needle) => (text) => text.endsWith(needle));
}

/** `icontains_multi` and `not_icontains_multi`: any of the texts is contained, or none. */
export function createContainsAnyMatcher(value: JsonValue, isNegated: boolean): PropertyMatcher {
  const needles: string[] = [];
  for (const element of Array.isArray(value) ? value : [value]) {
    const text = toText(element);
    if (text !== null) needles.push(toAsciiLower(text));
  }
  return createTextMatcher(isNegated, (text) => {
    const lower = toAsciiLower(text);
    return needles.some((needle) => lower.includes(needle));
  });
}

/**
 * `regex` and `not_regex`: unanchored and case-sensitive. A pattern that cannot be compiled
 * matches no property under either operator.
 */
export function createRegexMatcher(
  value: JsonValue,
  isNegated: boolean,
  compilePattern: CompilePattern,
): PropertyMatcher {
  const text = toText(value);
  const pattern = text === null ? null : compilePattern(text);
  if (pattern === null) return { whenMissing: isNegated, matches: () => false };
  return createTextMatcher(isNegated, (property) => pattern.test(property));
}

/** `gt`, `gte`, `lt`, `lte`: numbers only, there is no comparison of texts. */
export function createNumberMatcher(
  value: JsonValue,
  compare: (property: number, bound: number) => boolean,
): PropertyMatcher {
  const bound = toNumber(value);
  if (bound === null) return NEVER_MATCHER;
  return {
    whenMissing: false,
    matches: (property) => {
      const number = toNumber(property);
      return number !== null && compare(number, bound);
    },
  };
}

/**
 * `between` and `not_between`: both bounds inclusive. What is not a number is out of range; NaN
 * matches neither; bounds that are not two ordered numbers match nothing, not even a missing key.
 */
export function createBetweenMatcher(value: JsonValue, isNegated: boolean): PropertyMatcher {
  const bounds = Array.isArray(value) && value.length === 2 ? value.map(toNumber) : [];
  const [low, high] = bounds;
  if (low === undefined || high === undefined || low === null || high === null) {
    return NEVER_MATCHER;
  }
  // Also false when a bound is NaN.
  if (!(low <= high)) return NEVER_MATCHER;
  return {
    whenMissing: isNegated,
    matches: (property) => {
      const number = toNumber(property);
      if (number === null) return isNegated;
      if (Number.isNaN(number)) return false;
      return (number >= low && number <= high) !== isNegated;
    },
  };
}

function createAsciiMatcher(
  value: JsonValue,
  isNegated: boolean,
  createTest: (needle: string) => TextTest,
): PropertyMatcher {
  const text = toText(value);
  if (text === null) return NEVER_MATCHER;
  const test = createTest(toAsciiLower(text));
  return createTextMatcher(isNegated, (property) => test(toAsciiLower(property)));
}

function createTextMatcher(isNegated: boolean, test: TextTest): PropertyMatcher {
  return {
    whenMissing: isNegated,
    matches: (property) => {
      const text = toText(property);
      return text !== null && test(text) !== isNegated;
    },
  };
}
