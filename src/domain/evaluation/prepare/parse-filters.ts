import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import { isOperator, type Operator } from '../model/operators.ts';

const FILTER_TYPES = ['person', 'person_metadata', 'group', 'cohort', 'flag'] as const;
const SUPPORTED_VERSION = 1;
const NO_PAYLOADS: ReadonlyMap<string, JsonValue> = new Map();

/** Thrown while preparing one flag, caught there: its stored filters cannot be read. */
export class MalformedFilters extends Error {}

/** What a property filter compares. */
export type FilterType = (typeof FILTER_TYPES)[number];

/** A property filter with its shape checked. */
export interface ParsedFilter {
  readonly type: FilterType;
  readonly key: string;
  /** null = none given; the default depends on the type. */
  readonly operator: Operator | null;
  readonly value: JsonValue | undefined;
  readonly groupTypeIndex: number | null;
}

/** A condition set with its shape checked. */
export interface ParsedCondition {
  readonly filters: readonly ParsedFilter[];
  readonly rolloutPercentage: number;
  readonly variant: string | null;
  /** The effective one: the condition's own, else the flag's; null = person. */
  readonly groupTypeIndex: number | null;
}

/** A flag's filters with their shape checked. */
export interface ParsedFilters {
  readonly conditions: readonly ParsedCondition[];
  readonly variantKeys: readonly string[];
  readonly variantPercentages: readonly number[];
  readonly payloads: ReadonlyMap<string, JsonValue>;
  readonly holdout: { readonly id: number; readonly percentage: number } | null;
  readonly hasEnrollment: boolean;
  readonly hasEarlyExit: boolean;
  readonly groupTypeIndex: number | null;
}

/** Whether the filters are written in the one format that is supported. */
export function isSupportedVersion(filters: JsonObject): boolean {
  const { version } = filters;
  return version === undefined || version === null || version === SUPPORTED_VERSION;
}

/**
 * Checks the shape of a flag's filters; unknown keys are ignored, absent and null mean "not set".
 * Throws MalformedFilters.
 */
export function parseFilters(filters: JsonObject): ParsedFilters {
  if (!isSupportedVersion(filters)) throw new MalformedFilters('version');
  const groupTypeIndex = readInteger(filters, 'aggregation_group_type_index');
  const variants = readList(readObject(filters, 'multivariate') ?? {}, 'variants');
  const holdout = readObject(filters, 'holdout');
  return {
    conditions: readList(filters, 'groups').map((group) =>
      parseCondition(requireObject(group), groupTypeIndex),
    ),
    variantKeys: variants.map((variant) => requireValue(readText(requireObject(variant), 'key'))),
    variantPercentages: variants.map((variant) =>
      requireValue(readNumber(requireObject(variant), 'rollout_percentage')),
    ),
    payloads: readPayloads(filters),
    holdout:
      holdout === null
        ? null
        : {
            id: requireValue(readInteger(holdout, 'id')),
            percentage: requireValue(readNumber(holdout, 'exclusion_percentage')),
          },
    hasEnrollment: readBoolean(filters, 'feature_enrollment') === true,
    hasEarlyExit: readBoolean(filters, 'early_exit') === true,
    groupTypeIndex,
  };
}

function readPayloads(filters: JsonObject): ReadonlyMap<string, JsonValue> {
  const entries = Object.entries(readObject(filters, 'payloads') ?? {});
  return entries.length === 0 ? NO_PAYLOADS : new Map(entries);
}

function parseCondition(group: JsonObject, flagGroupTypeIndex: number | null): ParsedCondition {
  return {
    filters: readList(group, 'properties').map((property) => parseFilter(requireObject(property))),
    rolloutPercentage: readNumber(group, 'rollout_percentage') ?? 100,
    variant: readText(group, 'variant'),
    groupTypeIndex: Object.hasOwn(group, 'aggregation_group_type_index')
      ? readInteger(group, 'aggregation_group_type_index')
      : flagGroupTypeIndex,
  };
}

/** Checks the shape of one property filter. Throws MalformedFilters. */
export function parseFilter(property: JsonObject): ParsedFilter {
  const { key } = property;
  if (typeof key !== 'string' && typeof key !== 'number') throw new MalformedFilters('key');
  readBoolean(property, 'negation');
  const typeName = readText(property, 'type') ?? 'person';
  const type = FILTER_TYPES.find((known) => known === typeName);
  if (type === undefined) throw new MalformedFilters('type');
  const operator = readText(property, 'operator');
  if (operator !== null && !isOperator(operator)) throw new MalformedFilters('operator');
  return {
    type,
    key: String(key),
    operator,
    value: property.value,
    groupTypeIndex: readInteger(property, 'group_type_index'),
  };
}

function requireValue<Value>(value: Value | null): Value {
  if (value === null) throw new MalformedFilters('required');
  return value;
}

function requireObject(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw new MalformedFilters('object');
  return value;
}

function readObject(parent: JsonObject, key: string): JsonObject | null {
  const value = parent[key] ?? null;
  return value === null ? null : requireObject(value);
}

function readList(parent: JsonObject, key: string): readonly JsonValue[] {
  const value = parent[key] ?? [];
  if (!Array.isArray(value)) throw new MalformedFilters(key);
  return value;
}

function readText(parent: JsonObject, key: string): string | null {
  const value = parent[key] ?? null;
  if (value !== null && typeof value !== 'string') throw new MalformedFilters(key);
  return value;
}

function readNumber(parent: JsonObject, key: string): number | null {
  const value = parent[key] ?? null;
  if (value !== null && typeof value !== 'number') throw new MalformedFilters(key);
  return value;
}

function readInteger(parent: JsonObject, key: string): number | null {
  const value = readNumber(parent, key);
  if (value !== null && !Number.isInteger(value)) throw new MalformedFilters(key);
  return value;
}

function readBoolean(parent: JsonObject, key: string): boolean | null {
  const value = parent[key] ?? null;
  if (value !== null && typeof value !== 'boolean') throw new MalformedFilters(key);
  return value;
}
