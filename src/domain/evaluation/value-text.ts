import type { JsonValue } from '../json.ts';

const NON_ASCII = /[\u0080-\uffff]/;
const ASCII_UPPER = /[A-Z]+/g;
const TRUTHY_DEPTH = 32;
// Decimal floating point as property values write it: no surrounding spaces, no hex, no empty text.
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const SPECIAL = /^([+-]?)(inf|infinity|nan)$/i;

/**
 * A value as text: strings as they are, everything else as compact JSON, so null is "null" (a null
 * property is there, it is not "not set"). null when the value is nested too deeply to be written.
 */
export function toText(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/** Lower-cases A to Z only. */
export function toAsciiLower(text: string): string {
  return NON_ASCII.test(text)
    ? text.replace(ASCII_UPPER, (letters) => letters.toLowerCase())
    : text.toLowerCase();
}

/** A JSON number, or a string that is one (`1e3`, `+3`, `inf`, `nan`); null for anything else. */
export function toNumber(value: JsonValue): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  if (DECIMAL.test(value)) return Number(value);
  const special = SPECIAL.exec(value);
  if (special === null) return null;
  if (special[2]?.toLowerCase() === 'nan') return Number.NaN;
  return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Whether a property counts as true: true, "true" in any case, or an array of nothing else. */
export function isTruthy(value: JsonValue, depth = 0): boolean {
  if (typeof value === 'string') return value.length === 4 && value.toLowerCase() === 'true';
  if (Array.isArray(value)) {
    return depth < TRUTHY_DEPTH && value.every((element) => isTruthy(element, depth + 1));
  }
  return value === true;
}

/** Whether a filter value is a boolean, or "true" or "false" in any case. */
export function isBooleanLike(value: JsonValue): boolean {
  if (typeof value === 'boolean') return true;
  if (typeof value !== 'string') return false;
  const lower = value.toLowerCase();
  return lower === 'true' || lower === 'false';
}
