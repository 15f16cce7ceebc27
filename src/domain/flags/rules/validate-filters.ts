import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import type { CompilePattern } from '../../evaluation/model/definitions.ts';
import { checkFiltersStructure, filtersError } from '../../targeting/filters-structure.ts';
import { validateProperty } from '../../targeting/validate-property.ts';
import { conditionsOf, propertiesOf, variantsOf } from '../model/flag.ts';

/** What the rules need besides the filters. */
export interface FilterRules {
  readonly compilePattern: CompilePattern;
  /** The largest `filters`, as the bytes of its compact JSON. */
  readonly maxBytes: number;
}

const VARIANT_KEY = /^[a-zA-Z0-9_./-]{1,400}$/;

/** How far a sum of percentages may be from 100, for the rounding of binary fractions. */
const SUM_TOLERANCE = 1e-6;

/**
 * Validates `filters` as far as that needs no stored data. Throws the first violation as 400 on the
 * field `filters`.
 */
export function validateFilters(filters: JsonObject, rules: FilterRules): void {
  requireSize(filters, rules.maxBytes);
  checkFiltersStructure(filters);
  validateVariants(filters);
  const variantKeys = new Set(variantsOf(filters).map((variant) => variant.key));
  for (const [index, condition] of conditionsOf(filters).entries()) {
    validateAggregation(condition, filters);
    const override = condition.variant ?? null;
    if (override !== null && override !== '' && !variantKeys.has(override)) {
      throw filtersError('Filters are not valid (variant override does not exist)');
    }
    for (const [position, property] of propertiesOf(condition).entries()) {
      const path = `groups[${index}].properties[${position}]`;
      validateProperty(property, path, rules.compilePattern);
    }
  }
  validatePayloads(filters, variantKeys);
}

/** Refuses filters in a request that name a format version. */
export function refuseReservedKeys(sent: JsonObject): void {
  if (sent.version === undefined) return;
  throw filtersError(
    'filters.version is reserved. Remove it from the request.',
    'reserved_config_version',
  );
}

/** Refuses filters without a condition: what a new flag that states its filters must have. */
export function requireCondition(filters: JsonObject): void {
  const groups = filters.groups;
  if (Array.isArray(groups) && groups.length === 0) throw noCondition();
  if (groups === undefined || groups === null) throw noCondition();
}

function noCondition(): Error {
  return filtersError('Feature flags must have at least one condition set (group).');
}

/**
 * The filters as they are stored: payloads as JSON text, ids of cohorts as numbers, the older names
 * of two operators replaced, and the two keys of older clients that nothing reads left out.
 */
export function normaliseFilters(filters: JsonObject): JsonObject {
  const { super_groups: _superGroups, holdout_groups: _holdoutGroups, ...kept } = filters;
  const payloads = kept.payloads;
  const groups = kept.groups;
  return {
    ...kept,
    ...(Array.isArray(groups) ? { groups: groups.map(normaliseCondition) } : {}),
    ...(isJsonObject(payloads) ? { payloads: normalisePayloads(payloads) } : {}),
  };
}

const ID = /^[0-9]{1,10}$/;

const OPERATOR_ALIASES: Readonly<Record<string, string>> = { min: 'gte', max: 'lte' };

function normaliseCondition(condition: JsonValue): JsonValue {
  if (!isJsonObject(condition) || !Array.isArray(condition.properties)) return condition;
  return { ...condition, properties: condition.properties.map(normaliseProperty) };
}

function normaliseProperty(property: JsonValue): JsonValue {
  if (!isJsonObject(property)) return property;
  const { operator, value } = property;
  const alias = typeof operator === 'string' ? OPERATOR_ALIASES[operator] : undefined;
  const isIdAsText = property.type === 'cohort' && typeof value === 'string' && ID.test(value);
  return {
    ...property,
    ...(alias === undefined ? {} : { operator: alias }),
    // Evaluation finds a cohort by its number only.
    ...(isIdAsText ? { value: Number(value) } : {}),
  };
}

function normalisePayloads(payloads: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(payloads).map(([key, payload]) => [
      key,
      typeof payload === 'string' ? payload : JSON.stringify(payload),
    ]),
  );
}

/** Refuses filters that are larger than this as JSON. */
export function requireSize(filters: JsonObject, maxBytes: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(filters));
  if (bytes <= maxBytes) return;
  throw filtersError(
    `Feature flag filters exceed maximum size of ${maxBytes} bytes. ` +
      `Current size: ${bytes} bytes. Please simplify conditions or reduce payload sizes.`,
  );
}

function validateVariants(filters: JsonObject): void {
  const variants = variantsOf(filters);
  if (variants.length === 0) return;
  const seen = new Set<string>();
  let sum = 0;
  for (const [index, variant] of variants.entries()) {
    const key = String(variant.key);
    if (!VARIANT_KEY.test(key)) {
      throw filtersError(
        `multivariate.variants[${index}].key: Only letters, numbers, hyphens (-), underscores (_), ` +
          'dots (.) & slashes (/) are allowed.',
        'structural.multivariate.variants[].key.invalid',
      );
    }
    if (seen.has(key)) {
      throw filtersError(
        `multivariate.variants: Variant keys must be unique, duplicated: ${key}.`,
        'cross_field.variant_keys_not_unique',
      );
    }
    seen.add(key);
    sum += Number(variant.rollout_percentage);
  }
  if (Math.abs(sum - 100) > SUM_TOLERANCE) {
    throw filtersError('Invalid variant definitions: Variant rollout percentages must sum to 100.');
  }
}

/** A condition for groups may only read that group; one for persons never reads a group. */
function validateAggregation(condition: JsonObject, filters: JsonObject): void {
  const own = condition.aggregation_group_type_index;
  const index = (own === undefined ? filters.aggregation_group_type_index : own) ?? null;
  for (const property of propertiesOf(condition)) {
    const type = property.type ?? 'person';
    if (index === null) {
      if (type === 'group') {
        throw filtersError(
          'Filters are not valid (can only use person, cohort, and flag properties)',
        );
      }
    } else if (type !== 'group' || (property.group_type_index ?? index) !== index) {
      throw filtersError('Filters are not valid (can only use group properties)');
    }
  }
}

function validatePayloads(
  filters: JsonObject,
  variantKeys: ReadonlySet<JsonValue | undefined>,
): void {
  const payloads = filters.payloads ?? null;
  if (payloads === null) return;
  if (!isJsonObject(payloads)) throw filtersError('Payloads must be passed as a dictionary');
  for (const [key, payload] of Object.entries(payloads)) {
    if (variantKeys.size > 0 && !variantKeys.has(key)) {
      throw filtersError('Payload keys must match a variant key for multivariate flags');
    }
    if (variantKeys.size === 0 && key !== 'true') {
      throw filtersError("Payload keys must be 'true' for boolean flags");
    }
    if (typeof payload === 'string' && !isJsonText(payload)) {
      throw filtersError('Payload value is not valid JSON');
    }
  }
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
