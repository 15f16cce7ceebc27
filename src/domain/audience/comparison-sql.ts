import type { JsonValue } from '../common/json.ts';
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
/** A pattern without special characters: searching it is looking for a text. */
const LITERAL_PATTERN = /^[\w @%&=:;,<>~'"/-]{0,1000}$/;
const PLAIN_NUMBER = '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$';
const UNUSUAL_NUMBER = '^[+-]?([0-9.]+(e[+-]?[0-9]+)?|inf|infinity|nan)$';

/**
 * A comparison as SQL that says exactly what the engine says: true, false, or null for a row that
 * has to be left to the engine. `value` is the property as jsonb, SQL's null when it is missing.
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
  const text = sql`to_jsonb(to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
  if (!operator.startsWith('is_date_')) return comparisonSql(filter, text);
  const bound = typeof value === 'string' ? parseDate(value, clock.wallClock) : null;
  const limit = toInstant(bound, clock);
  if (limit === null) return FALSE;
  const instant = sql`extract(epoch FROM ${column}) * 1000`;
  const limitSql = sql`${String(limit)}::numeric`;
  if (operator === 'is_date_exact') return sql`(${instant} = ${limitSql})`;
  return operator === 'is_date_before'
    ? sql`(${instant} < ${limitSql})`
    : sql`(${instant} > ${limitSql})`;
}

/** The answer for a property that is there. */
function presentSql({ operator, value = null }: Comparison, property: Sql): Sql {
  switch (operator) {
    case 'is_set':
      return TRUE;
    case 'is_not_set':
      return FALSE;
    case 'exact':
      return equalitySql(value, property);
    case 'is_not':
      return not(equalitySql(value, property));
    case 'icontains':
    case 'icontains_multi':
    case 'starts_with':
    case 'ends_with':
      return needleSql(operator, value, property);
    case 'not_icontains':
      return not(needleSql('icontains', value, property));
    case 'not_icontains_multi':
      return not(needleSql('icontains_multi', value, property));
    case 'not_starts_with':
      return not(needleSql('starts_with', value, property));
    case 'not_ends_with':
      return not(needleSql('ends_with', value, property));
    case 'regex':
      return patternSql(value, property);
    case 'not_regex':
      return not(patternSql(value, property));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return orderSql(operator, value, property);
    case 'between':
    case 'not_between':
      return rangeSql(value, property, operator === 'not_between');
    default:
      return textOrNumberOnly(property);
  }
}

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
  // Upper and lower case of other scripts are the engine's affair.
  return sql`(${isPlain} OR CASE WHEN octet_length(${text}) > char_length(${text}) THEN ${UNDECIDED} ELSE FALSE END)`;
}

/** Whether a property counts as true; a list does when all of it does. */
function truthSql(property: Sql): Sql {
  return sql`(CASE jsonb_typeof(${property}) WHEN 'boolean' THEN ${property} = 'true'::jsonb WHEN 'string' THEN lower((${property} #>> '{}') COLLATE "C") = 'true' WHEN 'array' THEN ${UNDECIDED} ELSE FALSE END)`;
}

type NeedleOperator = 'icontains' | 'icontains_multi' | 'starts_with' | 'ends_with';

/** Only A to Z lose their case, in the property as in what is looked for. */
function needleSql(operator: NeedleOperator, value: JsonValue, property: Sql): Sql {
  const text = sql`lower(${scalarText(property)} COLLATE "C")`;
  if (operator !== 'icontains_multi') {
    const needle = toText(value);
    return needle === null ? UNDECIDED : foundSql(operator, toAsciiLower(needle), text);
  }
  const needles = (isList(value) ? value : [value]).flatMap((element) => {
    const needle = toText(element);
    return needle === null ? [] : [toAsciiLower(needle)];
  });
  // Without a needle nothing is found, but a list or object is still the engine's.
  if (needles.length === 0) return sql`(${text} IS NULL AND NULL)`;
  // One array, since a statement takes only so many values. OFFSET 0 has the text folded once.
  return sql`(SELECT bool_or(position(needle IN folded) > 0) FROM (SELECT ${text} AS folded OFFSET 0) AS haystack, unnest(${needles}::text[]) AS needle)`;
}

function foundSql(operator: Exclude<NeedleOperator, 'icontains_multi'>, needle: string, text: Sql) {
  if (operator === 'icontains') return sql`(position(${needle}::text IN ${text}) > 0)`;
  if (operator === 'starts_with') return sql`starts_with(${text}, ${needle}::text)`;
  return sql`(right(${text}, ${[...needle].length}::int) = ${needle}::text COLLATE "C")`;
}

function patternSql(value: JsonValue, property: Sql): Sql {
  const pattern = toText(value);
  if (pattern === null || !LITERAL_PATTERN.test(pattern)) return UNDECIDED;
  return sql`(position(${pattern}::text IN ${scalarText(property)}) > 0)`;
}

const ORDER_SIGNS = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const;

function orderSql(operator: keyof typeof ORDER_SIGNS, value: JsonValue, property: Sql): Sql {
  const bound = toNumber(value);
  if (bound === null || Number.isNaN(bound)) return FALSE;
  const sign = ORDER_SIGNS[operator];
  return numberSql(property, FALSE, (number) => sql`${number} ${sign} ${bound}::float8`);
}

function rangeSql(value: JsonValue, property: Sql, isNegated: boolean): Sql {
  const [low, high] = isList(value) ? value.map(toNumber) : [];
  if (typeof low !== 'number' || typeof high !== 'number') return UNDECIDED;
  const inside = (number: Sql) => sql`${number} BETWEEN ${low}::float8 AND ${high}::float8`;
  return numberSql(property, isNegated ? TRUE : FALSE, (number) =>
    isNegated ? not(sql`(${inside(number)})`) : inside(number),
  );
}

/**
 * A test of a property as a number: a JSON number, or text that writes one. Exponents, infinities
 * and numbers that a double hardly holds are left to the engine.
 */
function numberSql(property: Sql, otherwise: Sql, test: (number: Sql) => Sql): Sql {
  const text = sql`(${property} #>> '{}')`;
  return sql`(CASE jsonb_typeof(${property}) WHEN 'number' THEN CASE WHEN ${property}::numeric = 0 OR abs(${property}::numeric) BETWEEN 1e-300 AND 1e300 THEN ${test(sql`${property}::numeric::float8`)} END WHEN 'string' THEN CASE WHEN length(${text}) <= 200 AND ${text} ~ ${PLAIN_NUMBER} THEN ${test(sql`${text}::float8`)} WHEN ${text} ~* ${UNUSUAL_NUMBER} THEN ${UNDECIDED} ELSE ${otherwise} END ELSE ${otherwise} END)`;
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
