import type { JsonValue } from '../common/json.ts';
import { OPERATORS, type OperatorTest } from '../evaluation/model/operators.ts';
import type { PropertyMatcher } from '../evaluation/model/property-matcher.ts';
import type { Comparison } from '../evaluation/model/snapshot.ts';
import { parseDate, toInstant } from '../evaluation/values/date-value.ts';
import type { DateClock } from '../evaluation/values/relative-date.ts';
import {
  isBooleanLike,
  isTruthy,
  toAsciiLower,
  toNumber,
  toText,
} from '../evaluation/values/value-text.ts';
import { type Sql, sql } from './sql.ts';

export const TRUE = sql`TRUE`;
export const FALSE = sql`FALSE`;
/** The answer for a row that only the engine can decide. */
export const UNDECIDED = sql`NULL::boolean`;

/** Anything beyond ASCII. */
const BEYOND_ASCII = /[\u0080-\uffff]/;
/** A pattern without special characters: matching it is a search for a substring. */
const LITERAL_PATTERN = /^[\w @%&=:;,<>~'"/-]{0,1000}$/;
const PLAIN_NUMBER = '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$';
const UNUSUAL_NUMBER = '^[+-]?([0-9.]+(e[+-]?[0-9]+)?|inf|infinity|nan)$';

/**
 * A comparison as SQL that gives exactly the engine's answer: true, false, or null for a row that
 * only the engine can decide. `value` is the property as jsonb, SQL's null when it is missing.
 */
export function comparisonSql(
  filter: { readonly comparison: Comparison; readonly matcher: PropertyMatcher },
  value: Sql,
): Sql {
  const missing = filter.matcher.whenMissing ? TRUE : FALSE;
  return sql`(CASE WHEN ${value} IS NULL THEN ${missing} ELSE ${presentSql(filter.comparison, value)} END)`;
}

/** A comparison of the creation time of a row, by whole instants as the engine has them. */
export function createdAtSql(
  filter: { readonly comparison: Comparison; readonly matcher: PropertyMatcher },
  column: Sql,
  clock: DateClock,
): Sql {
  const { operator, value } = filter.comparison;
  const traits = OPERATORS[operator];
  const text = sql`to_jsonb(to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
  if (traits.value !== 'date') return comparisonSql(filter, text);
  const bound = typeof value === 'string' ? parseDate(value, clock.wallClock) : null;
  const limit = toInstant(bound, clock);
  if (limit === null) return FALSE;
  return sql`(extract(epoch FROM ${column}) * 1000 ${DATE_SIGNS[traits.test]} ${String(limit)}::numeric)`;
}

const DATE_SIGNS: Readonly<Record<OperatorTest<{ value: 'date' }>, Sql>> = {
  is_date_exact: sql`=`,
  is_date_before: sql`<`,
  is_date_after: sql`>`,
};

/** The answer for a property that is there. */
function presentSql({ operator, value = null }: Comparison, property: Sql): Sql {
  const traits = OPERATORS[operator];
  if (!traits.inSql) return textOrNumberOnly(property);
  const answer = TEST_SQL[traits.test](value, property);
  return traits.negates ? not(answer) : answer;
}

type TestSql = (value: JsonValue, property: Sql) => Sql;

const TEST_SQL: Readonly<Record<OperatorTest<{ inSql: true }>, TestSql>> = {
  exact: equalitySql,
  is_set: () => TRUE,
  icontains: needleSql((needle, text) => sql`(position(${needle}::text IN ${text}) > 0)`),
  icontains_multi: anyNeedleSql,
  starts_with: needleSql((needle, text) => sql`starts_with(${text}, ${needle}::text)`),
  ends_with: needleSql(
    (needle, text) =>
      sql`(right(${text}, ${[...needle].length}::int) = ${needle}::text COLLATE "C")`,
  ),
  regex: patternSql,
  gt: orderSql(sql`>`),
  gte: orderSql(sql`>=`),
  lt: orderSql(sql`<`),
  lte: orderSql(sql`<=`),
  between: rangeSql,
};

function not(answer: Sql): Sql {
  return sql`(NOT ${answer})`;
}

/** Dates and versions are texts or numbers; nothing else is one. */
function textOrNumberOnly(property: Sql): Sql {
  return sql`(CASE WHEN jsonb_typeof(${property}) IN ('string', 'number') THEN ${UNDECIDED} ELSE FALSE END)`;
}

function equalitySql(value: JsonValue, property: Sql): Sql {
  if (isBooleanLike(value)) {
    const truthy = truthSql(property);
    return isTruthy(value) ? truthy : not(truthy);
  }
  const wanted: string[] = [];
  for (const element of isList(value) ? value : [value]) {
    const text = toText(element);
    if (text !== null) wanted.push(text.toLowerCase());
  }
  // Whole lists and objects only ever equal a text that looks like one.
  const composite = wanted.some((text) => /^[[{]/.test(text)) ? UNDECIDED : FALSE;
  return sql`(CASE WHEN jsonb_typeof(${property}) IN ('array', 'object') THEN ${composite} ELSE ${equalTextSql(wanted, scalarText(property))} END)`;
}

function equalTextSql(wanted: readonly string[], text: Sql): Sql {
  const plain = [...new Set(wanted.filter((each) => !BEYOND_ASCII.test(each)))];
  // The Kelvin sign is the one character beyond ASCII whose lower case is ASCII.
  const folded = plain.some((each) => each.includes('k'))
    ? sql`replace(${text}, ${'\u212a'}::text, 'k')`
    : text;
  const isPlain = sql`lower(${folded} COLLATE "C") = ANY (${plain}::text[])`;
  if (plain.length === wanted.length) return sql`(${isPlain})`;
  // The case of other scripts is left to the engine.
  return sql`(${isPlain} OR CASE WHEN octet_length(${text}) > char_length(${text}) THEN ${UNDECIDED} ELSE FALSE END)`;
}

/** Whether a property counts as true; a list does when all of it does. */
function truthSql(property: Sql): Sql {
  return sql`(CASE jsonb_typeof(${property}) WHEN 'boolean' THEN ${property} = 'true'::jsonb WHEN 'string' THEN lower((${property} #>> '{}') COLLATE "C") = 'true' WHEN 'array' THEN ${UNDECIDED} ELSE FALSE END)`;
}

/** A test of the text by one needle. Only A to Z lose their case, in either. */
function needleSql(test: (needle: string, text: Sql) => Sql): TestSql {
  return (value, property) => {
    const needle = toText(value);
    return needle === null ? UNDECIDED : test(toAsciiLower(needle), lowerText(property));
  };
}

function anyNeedleSql(value: JsonValue, property: Sql): Sql {
  const text = lowerText(property);
  const needles = (isList(value) ? value : [value]).flatMap((element) => {
    const needle = toText(element);
    return needle === null ? [] : [toAsciiLower(needle)];
  });
  // Without a needle nothing is found, but a list or object is still the engine's.
  if (needles.length === 0) return sql`(${text} IS NULL AND NULL)`;
  // One array, since a statement takes only so many values. OFFSET 0 has the text folded once.
  return sql`(SELECT bool_or(position(needle IN folded) > 0) FROM (SELECT ${text} AS folded OFFSET 0) AS haystack, unnest(${needles}::text[]) AS needle)`;
}

function lowerText(property: Sql): Sql {
  return sql`lower(${scalarText(property)} COLLATE "C")`;
}

function patternSql(value: JsonValue, property: Sql): Sql {
  const pattern = toText(value);
  if (pattern === null || !LITERAL_PATTERN.test(pattern)) return UNDECIDED;
  return sql`(position(${pattern}::text IN ${scalarText(property)}) > 0)`;
}

function orderSql(sign: Sql): TestSql {
  return (value, property) => {
    const bound = toNumber(value);
    if (bound === null || Number.isNaN(bound)) return FALSE;
    return numberSql(property, (number) => sql`${number} ${sign} ${bound}::float8`);
  };
}

function rangeSql(value: JsonValue, property: Sql): Sql {
  const [low, high] = isList(value) ? value.map(toNumber) : [];
  if (typeof low !== 'number' || typeof high !== 'number') return UNDECIDED;
  return numberSql(property, (number) => sql`${number} BETWEEN ${low}::float8 AND ${high}::float8`);
}

/**
 * A test of a property as a number: a JSON number, or text that writes one. Exponents, infinities
 * and numbers near the limits of a double are left to the engine.
 */
function numberSql(property: Sql, test: (number: Sql) => Sql): Sql {
  const text = sql`(${property} #>> '{}')`;
  return sql`(CASE jsonb_typeof(${property}) WHEN 'number' THEN CASE WHEN ${property}::numeric = 0 OR abs(${property}::numeric) BETWEEN 1e-300 AND 1e300 THEN ${test(sql`${property}::numeric::float8`)} END WHEN 'string' THEN CASE WHEN length(${text}) <= 200 AND ${text} ~ ${PLAIN_NUMBER} THEN ${test(sql`${text}::float8`)} WHEN ${text} ~* ${UNUSUAL_NUMBER} THEN ${UNDECIDED} ELSE FALSE END ELSE FALSE END)`;
}

/**
 * The property as the text that the engine compares. Null for lists, objects, and numbers that
 * JavaScript writes with an exponent.
 */
function scalarText(property: Sql): Sql {
  return sql`(CASE jsonb_typeof(${property}) WHEN 'string' THEN ${property} #>> '{}' WHEN 'boolean' THEN ${property} #>> '{}' WHEN 'null' THEN 'null' WHEN 'number' THEN CASE WHEN ${property}::numeric = 0 THEN '0' WHEN abs(${property}::numeric) BETWEEN 0.000001 AND 1e20 THEN trim_scale(${property}::numeric::float8::text::numeric)::text END END)`;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
