import type { JsonValue } from './json.ts';

/** Distinct ids are stored with at most this many characters. */
const DISTINCT_ID_MAX_LENGTH = 200;

/** Group types and keys are index keys, so they are bounded as well. */
const GROUP_NAME_MAX_LENGTH = 400;

const MAYBE_UNSTORABLE = /[\0\ud800-\udfff]/;
const UNSTORABLE = /\0|\p{Surrogate}/gu;
const REPLACEMENT = '\ufffd';

/**
 * The text with every NUL and every lone surrogate replaced by U+FFFD: neither can be stored in
 * PostgreSQL's text or jsonb, and one such character must not fail the events around it.
 */
export function cleanText(text: string): string {
  return MAYBE_UNSTORABLE.test(text) ? text.replace(UNSTORABLE, REPLACEMENT) : text;
}

/** The first `maxLength` characters, counted as code points so that no pair is torn apart. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let length = 0;
  let end = 0;
  for (const character of text) {
    if (length === maxLength) break;
    length += 1;
    end += character.length;
  }
  return text.slice(0, end);
}

/** The distinct id under which a person is stored and found. */
export function toStoredDistinctId(distinctId: string): string {
  return cutText(cleanText(distinctId), DISTINCT_ID_MAX_LENGTH);
}

/** The group type or group key under which a group is stored and found. */
export function toStoredGroupName(name: string): string {
  return cutText(cleanText(name), GROUP_NAME_MAX_LENGTH);
}

/**
 * Any JSON value as an identifier: strings as they are, everything else as JSON text with sorted
 * keys, so that equal values are one identifier. Null when the value is missing or blank.
 */
export function toIdentifier(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(sortKeys(value));
  return text.trim() === '' ? null : text;
}

function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isArray(value)) return value.map(sortKeys);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
