import type { JsonValue } from '../common/json.ts';

/** What happened to a thing. */
export type ActivityKind = 'created' | 'updated' | 'deleted' | 'restored';

/** The change of one field. */
export interface Change {
  readonly type: string;
  readonly action: 'created' | 'changed' | 'deleted';
  readonly field: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** One entry of the activity log. */
export interface Activity {
  readonly id: string;
  readonly userEmail: string | null;
  readonly activity: ActivityKind;
  readonly scope: string;
  readonly itemId: string;
  readonly name: string | null;
  readonly changes: readonly Change[];
  readonly createdAt: Date;
}

/**
 * The fields that differ between two states of a thing, in the order of `after`.
 *
 * A field that had no value (null, empty text, list or object) was `created`, one that has lost its
 * value was `deleted`; booleans always have a value.
 */
export function diffFields(
  type: string,
  before: Readonly<Record<string, JsonValue>>,
  after: Readonly<Record<string, JsonValue>>,
): Change[] {
  const changes: Change[] = [];
  for (const [field, value] of Object.entries(after)) {
    const previous = before[field] ?? null;
    if (isSameJson(previous, value)) continue;
    changes.push({
      type,
      action: actionOf(previous, value),
      field,
      before: previous,
      after: value,
    });
  }
  return changes;
}

function actionOf(before: JsonValue, after: JsonValue): Change['action'] {
  if (isEmpty(before)) return 'created';
  return isEmpty(after) ? 'deleted' : 'changed';
}

function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Whether two JSON values are equal, whatever the order of their keys. */
export function isSameJson(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return false;
  if (left === null || right === null || Array.isArray(left) !== Array.isArray(right)) return false;
  const leftEntries = Object.entries(left);
  const rightValues = new Map<string, JsonValue>(Object.entries(right));
  if (leftEntries.length !== rightValues.size) return false;
  return leftEntries.every(([key, value]) => {
    const other = rightValues.get(key);
    return other !== undefined && isSameJson(value, other);
  });
}
