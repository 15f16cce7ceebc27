import type { JsonValue } from '../../common/json.ts';
import type { FeatureFlagRow } from '../../database/tables.ts';
import {
  type FeatureFlagInput,
  FLAG_FIELDS,
  type JsonColumn,
  WRITABLE_FIELDS,
  type WritableColumn,
  type WritableFieldName,
} from '../model/flag-fields.ts';

/** Columns as they are written: jsonb as text, since `pg` would send an array as an SQL array. */
type WrittenColumns = {
  readonly [Column in WritableColumn]?: Column extends JsonColumn ? string : FeatureFlagRow[Column];
};

/** The columns that the input sets. Each element of a list is kept once. */
export function toRow(input: FeatureFlagInput): WrittenColumns {
  const entries = WRITABLE_FIELDS.flatMap((name) => {
    const value = input[name];
    return value === undefined ? [] : [[FLAG_FIELDS[name].column, toStored(name, value)] as const];
  });
  const columns: WrittenColumns = Object.fromEntries(entries);
  return input.active === true ? { ...columns, performed_rollback: false } : columns;
}

function toStored(name: WritableFieldName, value: JsonValue | Date): JsonValue | Date {
  if (FLAG_FIELDS[name].isJson) return JSON.stringify(value);
  return Array.isArray(value) ? [...new Set(value)] : value;
}
