import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import { cleanText } from '../../persons/write/persons-writes.ts';
import { invalidCapture } from './capture-refusal.ts';

/** Deeper values are refused: PostgreSQL's JSON parser and the walks here are recursive. */
const MAX_DEPTH = 128;

/**
 * The object with every key and string made storable (see `cleanText`); the same reference when
 * nothing had to change. A value nested deeper than 128 levels is refused with 400.
 */
export function cleanJsonObject(object: JsonObject): JsonObject {
  return isStorable(object, 0) ? object : rebuildObject(object);
}

/** A walk without allocations, since nearly every event is clean. */
function isStorable(value: JsonValue | undefined, depth: number): boolean {
  if (typeof value === 'string') return cleanText(value) === value;
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) {
    throw invalidCapture('failed to parse request: recursion limit exceeded');
  }
  let isClean = true;
  if (isJsonObject(value)) {
    for (const key in value) {
      if (cleanText(key) !== key || !isStorable(value[key], depth + 1)) isClean = false;
    }
    return isClean;
  }
  // No early exit: the depth of every branch has to be checked before anything recurses again.
  for (const item of value) {
    if (!isStorable(item, depth + 1)) isClean = false;
  }
  return isClean;
}

function rebuild(value: JsonValue): JsonValue {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  return isJsonObject(value) ? rebuildObject(value) : value.map(rebuild);
}

function rebuildObject(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [cleanText(key), rebuild(value)]),
  );
}
