import { isJsonObject, type JsonValue } from '../../common/json.ts';

const NON_ASCII = /[\u0080-\uffff]/;
const ASCII_UPPER = /[A-Z]+/g;
const TRUTHY_DEPTH = 32;
// Decimal floating point as property values write it: no surrounding spaces, no hex, no empty text.
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const SPECIAL = /^([+-]?)(inf|infinity|nan)$/i;

/**
 * A value as text: strings as they are, everything else as compact JSON, so null is "null" (a null
 * property is there, it is not "not set"). Keys are in order, whatever order they were sent or
 * stored in. null when the value is nested too deeply to be written.
 */
export function toText(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  try {
    return writeOrdered(value);
  } catch {
    return null;
  }
}

function writeOrdered(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(writeOrdered).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([left], [right]) => compareCodePoints(left, right));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${writeOrdered(each)}`).join(',')}}`;
}

function compareCodePoints(left: string, right: string): number {
  for (let at = 0; at < left.length && at < right.length; at++) {
    const order = (left.codePointAt(at) ?? 0) - (right.codePointAt(at) ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
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

/** Whether a filter is a boolean, "true" or "false" in any case, or an array of nothing else. */
export function isBooleanLike(value: JsonValue, depth = 0): boolean {
  if (typeof value === 'boolean') return true;
  if (Array.isArray(value)) {
    return depth < TRUTHY_DEPTH && value.every((element) => isBooleanLike(element, depth + 1));
  }
  if (typeof value !== 'string') return false;
  const lower = value.toLowerCase();
  return lower === 'true' || lower === 'false';
}
