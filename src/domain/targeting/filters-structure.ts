import { isJsonObject, type JsonObject, type JsonValue } from '../common/json.ts';
import { invalidField, type Refusal } from '../common/refusal.ts';
import { pythonTypeName } from './python-text.ts';

/** A fault in `filters`: 400 with that field named. */
export function filtersError(detail: string, code?: string): Refusal {
  return invalidField('filters', detail, code);
}

const INT32_MAX = 2_147_483_647;

const PROPERTY_TYPES = new Set<JsonValue>(['person', 'cohort', 'group', 'flag']);

/**
 * Checks that everything in `filters` that Burgee reads has the right type, and says the path of the
 * first thing that has not. What the keys mean together is checked after it.
 */
export function checkFiltersStructure(filters: JsonObject): void {
  checkIntegerOrNull(filters.aggregation_group_type_index, 'aggregation_group_type_index');
  checkBooleanOrNull(filters.early_exit, 'early_exit must be a boolean or null, got');
  checkBooleanOrNull(
    filters.feature_enrollment,
    'feature_enrollment must be a boolean or null, got',
  );
  checkHoldout(filters.holdout);
  checkMultivariate(filters.multivariate);
  const groups = filters.groups;
  if (groups === undefined) return;
  if (!isList(groups)) throw filtersError(`groups must be a list, got ${pythonTypeName(groups)}`);
  for (const [index, group] of groups.entries()) checkGroup(group, `groups[${index}]`);
}

/** The JSON lists among JSON values. */
export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function checkGroup(group: JsonValue, path: string): void {
  if (!isJsonObject(group)) {
    throw filtersError(`${path} must be a dictionary, got ${pythonTypeName(group)}`);
  }
  checkPercentage(group.rollout_percentage, `${path}.rollout_percentage`, 'number or null');
  const variant = group.variant ?? null;
  if (variant !== null && typeof variant !== 'string') {
    throw filtersError(`${path}.variant must be a string or null, got ${pythonTypeName(variant)}`);
  }
  checkIntegerOrNull(group.aggregation_group_type_index, `${path}.aggregation_group_type_index`);
  const properties = group.properties ?? [];
  if (!isList(properties)) {
    throw filtersError(`${path}.properties must be a list, got ${pythonTypeName(properties)}`);
  }
  for (const [index, property] of properties.entries()) {
    checkProperty(property, `${path}.properties[${index}]`);
  }
}

function checkProperty(property: JsonValue, path: string): void {
  if (!isJsonObject(property)) {
    throw filtersError(`${path} must be a dictionary, got ${pythonTypeName(property)}`);
  }
  const key = property.key ?? '';
  if ((typeof key !== 'string' && typeof key !== 'number') || key === '') {
    throw filtersError(`${path}.key: a property key is required`);
  }
  if (!PROPERTY_TYPES.has(property.type ?? 'person')) {
    throw filtersError(`${path}.type: invalid property type`);
  }
  const operator = property.operator ?? null;
  if (operator !== null && typeof operator !== 'string') {
    throw filtersError(
      `${path}.operator must be a string or null, got ${pythonTypeName(operator)}`,
    );
  }
  if (property.negation !== undefined) {
    const negation = property.negation;
    if (negation !== null && typeof negation !== 'boolean') {
      throw filtersError(`${path}.negation must be a boolean or null`);
    }
  }
  checkIntegerOrNull(property.group_type_index, `${path}.group_type_index`);
}

function checkMultivariate(multivariate: JsonValue | undefined): void {
  if (multivariate === undefined || multivariate === null) return;
  if (!isJsonObject(multivariate)) {
    const type = pythonTypeName(multivariate);
    throw filtersError(`multivariate must be a dictionary or null, got ${type}`);
  }
  const variants = multivariate.variants;
  if (!isList(variants)) throw filtersError('multivariate.variants must be a list');
  for (const [index, variant] of variants.entries()) {
    const path = `multivariate.variants[${index}]`;
    if (!isJsonObject(variant)) {
      throw filtersError(`${path} must be a dictionary, got ${pythonTypeName(variant)}`);
    }
    if (typeof variant.key !== 'string') throw filtersError(`${path}.key must be a string`);
    const percentage = variant.rollout_percentage ?? null;
    if (percentage === null) {
      throw filtersError(`${path}.rollout_percentage must be a number, got null`);
    }
    checkPercentage(percentage, `${path}.rollout_percentage`, 'number');
  }
}

function checkHoldout(holdout: JsonValue | undefined): void {
  if (holdout === undefined || holdout === null) return;
  if (!isJsonObject(holdout)) {
    throw filtersError(`holdout must be a dictionary or null, got ${pythonTypeName(holdout)}`);
  }
  if (!Number.isInteger(holdout.id)) throw filtersError('holdout.id must be an integer');
  if (typeof holdout.exclusion_percentage !== 'number') {
    throw filtersError('holdout.exclusion_percentage must be a number');
  }
  checkPercentage(holdout.exclusion_percentage, 'holdout.exclusion_percentage', 'number');
}

function checkPercentage(value: JsonValue | undefined, path: string, expected: string): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'number') {
    throw filtersError(`${path} must be a ${expected}, got ${pythonTypeName(value)}`);
  }
  if (value < 0 || value > 100) {
    throw filtersError(`${path} must be between 0 and 100, got ${value}`);
  }
}

function checkIntegerOrNull(value: JsonValue | undefined, path: string): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw filtersError(`${path} must be an integer or null, got ${pythonTypeName(value)}`);
  }
  if (Math.abs(value) > INT32_MAX) {
    throw filtersError(`${path} must be between ${-INT32_MAX} and ${INT32_MAX}, got ${value}`);
  }
}

function checkBooleanOrNull(value: JsonValue | undefined, complaint: string): void {
  if (value === undefined || value === null || typeof value === 'boolean') return;
  throw filtersError(`${complaint} ${pythonTypeName(value)}`);
}
