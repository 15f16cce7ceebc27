import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/domain/common/json.ts';
import { compilePattern } from '../../src/domain/targeting/patterns.ts';
import {
  ABSENT_KEY,
  anyOf,
  booleanLike,
  codes,
  dateBounds,
  type Family,
  keyOf,
  versionWildcards,
} from './property-values.ts';

/** A filter on one property, whether a person's or a group's. */
export type PropertyFilter = Readonly<{ key: string; operator: string; value?: JsonValue }>;

/** Kinds of properties with a text that both sides write alike. */
const SCALARS: readonly Family[] = ['word', 'code', 'number', 'version', 'date', 'switch'];
/** Of these only those whose texts are ASCII: the client leaves the rest to the server. */
const ASCII: readonly Family[] = ['code', 'number', 'version', 'date', 'switch'];
/** Kinds without integers: the client cannot tell 1 from 1.0 and leaves equality to the server. */
const EQUATABLE: readonly Family[] = ['word', 'code', 'version', 'date', 'switch', 'composite'];
const EVERY: readonly Family[] = [...EQUATABLE, 'number'];

/** Stands for the property that every subject has: `distinct_id` or `$group_key`. */
export const SUBJECT_KEY = '$subject';

const patternAtoms = fc.constantFrom(
  ...[
    'a',
    'b',
    'A',
    '0',
    '1',
    '.',
    '-',
    ' ',
    'Pro',
    '\\.',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
  ],
  ...[
    '[ab]',
    '[^ab]',
    '[a-z]',
    '[A-Z0-9]',
    '[\\d.]',
    '[^\\s]',
    '\\-',
    '\\/',
    '\\$',
    '\\x41',
    '\\n',
  ],
);
const patternPieces = fc.letrec<{ piece: string; group: string }>((tie) => ({
  piece: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 5, arbitrary: patternAtoms },
    {
      weight: 3,
      arbitrary: fc
        .tuple(patternAtoms, fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{1,}', '*?', '+?'))
        .map((parts) => parts.join('')),
    },
    { weight: 1, arbitrary: tie('group') },
  ),
  group: fc
    .tuple(fc.constantFrom('(', '(?:'), tie('piece'), fc.constantFrom('', '|'), tie('piece'))
    .map(([open, left, bar, right]) => `${open}${left}${bar}${right})`),
})).piece;

const patterns = fc
  .tuple(
    fc.constantFrom('', '', '^'),
    fc.array(patternPieces, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '', '$'),
  )
  .map(([start, pieces, end]) => `${start}${pieces.join('')}${end}`);

/** Anything of the characters that patterns are made of, as far as it may be stored. */
const wildPatterns = fc
  .string({ unit: fc.constantFrom(...'aab01.*+?|()[]{}^$\\,-dswbx:A '), maxLength: 8 })
  .filter((pattern) => compilePattern(pattern) !== null);

function filters(
  operators: readonly [string, ...string[]],
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<JsonValue>,
): fc.Arbitrary<PropertyFilter> {
  return fc.record({ key: keys, operator: fc.constantFrom(...operators), value: values });
}

const equatable = anyOf(...EQUATABLE);
const equality = fc.oneof(
  filters(
    ['exact', 'is_not'],
    keyOf(...EQUATABLE),
    fc.oneof(equatable, booleanLike, fc.constant([]), fc.array(equatable, { maxLength: 3 })),
  ),
  filters(
    ['exact', 'is_not'],
    keyOf('switch', 'composite'),
    fc.oneof(
      anyOf('composite'),
      fc.array(fc.oneof(booleanLike, fc.array(booleanLike, { maxLength: 2 })), { maxLength: 2 }),
    ),
  ),
);
const presence = fc.record(
  {
    key: keyOf(...EVERY),
    operator: fc.constantFrom('is_set', 'is_not_set'),
    value: fc.constantFrom('is_set', '', null),
  },
  { requiredKeys: ['key', 'operator'], noNullPrototype: true },
);
const texts = fc.oneof(
  anyOf('word', 'code', 'number', 'version'),
  codes.map((code) => code.slice(0, 2)),
);
const subjectKeys = fc.oneof(
  { weight: 9, arbitrary: keyOf(...SCALARS) },
  { weight: 1, arbitrary: fc.constant(SUBJECT_KEY) },
);

/** The filters on properties that the client always decides, by operator group. */
const decidable = {
  equality,
  presence,
  containing: filters(['icontains', 'not_icontains'], subjectKeys, texts),
  affixes: filters(
    ['starts_with', 'not_starts_with', 'ends_with', 'not_ends_with'],
    subjectKeys,
    texts,
  ),
  patterns: filters(['regex', 'not_regex'], keyOf(...ASCII), patterns),
  numbers: filters(['gt', 'gte', 'lt', 'lte'], keyOf('number'), anyOf('number')),
  dates: filters(['is_date_before', 'is_date_after'], keyOf('date'), dateBounds),
  versions: filters(
    ['semver_eq', 'semver_neq', 'semver_gt', 'semver_gte', 'semver_lt', 'semver_lte'],
    keyOf('version'),
    anyOf('version'),
  ),
  versionRanges: fc.oneof(
    filters(['semver_tilde', 'semver_caret'], keyOf('version'), anyOf('version')),
    filters(['semver_wildcard'], keyOf('version'), versionWildcards),
  ),
} as const;

export const decidableFilters: fc.Arbitrary<PropertyFilter> = fc.oneof(
  { weight: 4, arbitrary: decidable.equality },
  { weight: 1, arbitrary: decidable.presence },
  { weight: 3, arbitrary: decidable.containing },
  { weight: 2, arbitrary: decidable.affixes },
  { weight: 3, arbitrary: decidable.patterns },
  { weight: 3, arbitrary: decidable.numbers },
  { weight: 3, arbitrary: decidable.dates },
  { weight: 3, arbitrary: decidable.versions },
  { weight: 2, arbitrary: decidable.versionRanges },
);

/** Filters on which the client may have to leave the flag to the server. */
export const doubtfulFilters: fc.Arbitrary<PropertyFilter> = fc.oneof(
  decidableFilters.map((filter) => ({ ...filter, key: ABSENT_KEY })),
  filters(['exact', 'is_not'], keyOf(...EVERY), fc.oneof(anyOf('number'), fc.array(texts))),
  filters(['regex', 'not_regex'], keyOf(...SCALARS), fc.oneof(wildPatterns, patterns)),
  filters(['semver_eq', 'semver_neq', 'semver_gt'], keyOf('word'), anyOf('version')),
);

/** The filter as it stands in a condition on persons (null) or on groups of a type. */
export function toStoredFilter(filter: PropertyFilter, groupTypeIndex: number | null): JsonObject {
  const { key, ...comparison } = filter;
  if (groupTypeIndex === null) {
    return { key: key === SUBJECT_KEY ? 'distinct_id' : key, type: 'person', ...comparison };
  }
  return {
    key: key === SUBJECT_KEY ? '$group_key' : key,
    type: 'group',
    group_type_index: groupTypeIndex,
    ...comparison,
  };
}
