import { isSameJson } from '../../activity/activity.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import { Refusal } from '../../common/refusal.ts';
import type { Tx } from '../../database/db.ts';
import { listUsersById } from '../../projects/projects-queries.ts';
import { isList } from '../../targeting/filters-structure.ts';
import {
  type FeatureFlag,
  type FeatureFlagInput,
  INPUT_FIELDS,
  wireNameOf,
} from '../model/flag-fields.ts';
import type { PayloadCipher } from '../payloads/payload-encryption.ts';
import { normaliseFilters } from '../rules/validate-filters.ts';
import { readableFields } from './logged-fields.ts';

/** What a client started from when it changed a flag. */
export interface EditBasis {
  /** The version that it saw; absent, -1 and 0 ask for no check. */
  readonly version?: number | undefined;
  /** The flag that it saw, as the API sends it; anything else than an object asks for no check. */
  readonly originalFlag?: JsonValue | undefined;
}

/** Display names that replies add to property filters. */
const DECORATIONS: ReadonlySet<string> = new Set(['cohort_name', 'group_key_names']);

/**
 * The input without what the client did not change itself, when somebody else changed the flag since
 * the client read it. Throws 409 when both changed the same field to different values.
 *
 * `filters` is compared whole: what the client sent, laid over what it had seen.
 */
export async function resolveConflicts(
  tx: Tx,
  before: FeatureFlag,
  input: FeatureFlagInput,
  basis: EditBasis,
  cipher: PayloadCipher | null,
): Promise<FeatureFlagInput> {
  const { version = 0, originalFlag } = basis;
  if (version < 1 || version === before.version || !isJsonObject(originalFlag)) return input;
  const seen = withBothNames(originalFlag);
  const stored = readableFields(before, cipher);
  const kept: [string, unknown][] = [];
  for (const field of INPUT_FIELDS) {
    const value = input[field];
    if (value === undefined) continue;
    const name = wireNameOf(field);
    const original = seen[name];
    if (original === undefined) {
      kept.push([field, value]);
      continue;
    }
    const first = comparable(original);
    const mine = comparable(layOver(original, value instanceof Date ? value.toISOString() : value));
    if (isSameJson(mine, first)) continue;
    const theirs = comparable(stored[name] ?? null);
    if (!isSameJson(first, theirs) && !isSameJson(mine, theirs)) throw await conflict(tx, before);
    kept.push([field, value]);
  }
  return Object.fromEntries(kept);
}

/** Evaluation contexts have two names; a client may have read one and write the other. */
function withBothNames(original: JsonObject): JsonObject {
  const contexts = original.evaluation_contexts ?? original.evaluation_tags;
  if (contexts === undefined) return original;
  return { evaluation_tags: contexts, evaluation_contexts: contexts, ...original };
}

/** Only `filters` among the fields is an object that a client may send in part. */
function layOver(original: JsonValue, sent: JsonValue): JsonValue {
  return isJsonObject(original) && isJsonObject(sent) ? { ...original, ...sent } : sent;
}

/** A value in the form in which it is stored, without display names. */
function comparable(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const filters = normaliseFilters(value);
  if (!isList(filters.groups)) return filters;
  return { ...filters, groups: filters.groups.map(withoutDecorations) };
}

function withoutDecorations(group: JsonValue): JsonValue {
  if (!isJsonObject(group) || !isList(group.properties)) return group;
  const properties = group.properties.map((property) =>
    isJsonObject(property)
      ? Object.fromEntries(Object.entries(property).filter(([name]) => !DECORATIONS.has(name)))
      : property,
  );
  return { ...group, properties };
}

async function conflict(tx: Tx, flag: FeatureFlag): Promise<Refusal> {
  const id = flag.lastModifiedById;
  const users = await listUsersById(tx, id === null ? [] : [id]);
  const name = id === null ? undefined : users.get(id)?.email;
  return new Refusal(
    'conflict',
    `The feature flag was updated by ${name ?? 'another user'} since you started editing it. ` +
      'Please refresh and try again.',
  );
}
