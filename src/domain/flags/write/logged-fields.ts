import type { JsonValue } from '../../common/json.ts';
import {
  type FeatureFlag,
  FLAG_FIELDS,
  LOGGED_FIELDS,
  type LoggedFieldName,
  WRITABLE_FIELDS,
  type WritableFieldName,
} from '../model/flag-fields.ts';
import { openPayloads } from '../payloads/encrypted-payloads.ts';
import type { PayloadCipher } from '../payloads/payload-encryption.ts';

/** Values of fields by the names of the API. */
type FieldValues = Readonly<Record<string, JsonValue>>;

/**
 * The fields whose changes the activity log records. A marker replaces secret payloads; `isSecret`
 * also replaces those on the other side of a change that makes them secret.
 */
export function loggedFields(
  flag: FeatureFlag,
  isSecret = flag.hasEncryptedPayloads,
): Record<string, JsonValue> {
  return {
    ...valuesOf(flag, LOGGED_FIELDS),
    // A ciphertext is of no use to a reader, and must not outlive its key in a log.
    filters: openPayloads({ filters: flag.filters, hasEncryptedPayloads: isSecret }, null),
  };
}

/** The columns of logged fields, from values by the names of the API; other names are ignored. */
export function toLoggedColumns(values: FieldValues): Record<string, JsonValue> {
  return Object.fromEntries(
    LOGGED_FIELDS.flatMap((name) => {
      const { column, name: wireName } = FLAG_FIELDS[name];
      const value = values[wireName];
      return value === undefined ? [] : [[column, value]];
    }),
  );
}

/** The fields that a client may write, as it reads them. */
export function readableFields(flag: FeatureFlag, cipher: PayloadCipher | null): FieldValues {
  return {
    ...valuesOf(flag, WRITABLE_FIELDS),
    filters: openPayloads(flag, cipher),
    evaluation_contexts: flag.evaluationTags,
  };
}

function valuesOf(
  flag: FeatureFlag,
  names: readonly (LoggedFieldName | WritableFieldName)[],
): FieldValues {
  return Object.fromEntries(
    names.map((name) => {
      const value = flag[name];
      return [FLAG_FIELDS[name].name, value instanceof Date ? value.toISOString() : value];
    }),
  );
}
