import type { JsonObject, JsonValue } from '../common/json.ts';
import type { CompilePattern } from '../evaluation/model/definitions.ts';
import { parseDate } from '../evaluation/values/date-value.ts';
import { parseVersion, parseWildcard } from '../evaluation/values/semver.ts';
import { createWallClock } from '../evaluation/values/wall-clock.ts';
import { filtersError, isList } from './filters-structure.ts';
import { pythonRepr } from './python-text.ts';

const TEXT_OPERATORS = [
  'regex',
  'not_regex',
  'icontains',
  'not_icontains',
  'gt',
  'gte',
  'lt',
  'lte',
];
const LIST_OPERATORS = ['icontains_multi', 'not_icontains_multi'];
const RANGE_OPERATORS = ['between', 'not_between'];
const DATE_OPERATORS = ['is_date_exact', 'is_date_after', 'is_date_before'];
const COHORT_OPERATORS = ['in', 'not_in'];
const SEMVER_OPERATORS = [
  'semver_gt',
  'semver_gte',
  'semver_lt',
  'semver_lte',
  'semver_eq',
  'semver_neq',
  'semver_tilde',
  'semver_caret',
  'semver_wildcard',
];
const FLAG_OPERATOR = 'flag_evaluates_to';
/** The most values that one property filter may list. */
const LIST_MAX_VALUES = 1_000;

const UTC = createWallClock('UTC');

const OPERATORS = new Set([
  'exact',
  'is_not',
  'is_set',
  'is_not_set',
  'starts_with',
  'not_starts_with',
  'ends_with',
  'not_ends_with',
  ...TEXT_OPERATORS,
  ...LIST_OPERATORS,
  ...RANGE_OPERATORS,
  ...DATE_OPERATORS,
  ...COHORT_OPERATORS,
  ...SEMVER_OPERATORS,
  FLAG_OPERATOR,
]);

/**
 * Checks one property filter: its operator exists, suits the type of the property, and the value
 * suits the operator.
 */
export function validateProperty(
  property: JsonObject,
  path: string,
  compilePattern: CompilePattern,
): void {
  const type = property.type ?? 'person';
  const operator = typeof property.operator === 'string' ? property.operator : 'exact';
  if (type === 'flag' && operator !== FLAG_OPERATOR) {
    throw filtersError("Flag properties must use the 'flag_evaluates_to' operator");
  }
  if (!OPERATORS.has(operator)) {
    throw filtersError(`Invalid operator: ${operator}`, 'invalid_operator');
  }
  if (COHORT_OPERATORS.includes(operator) && type !== 'cohort') {
    throw filtersError(
      `The '${operator}' operator is only valid for cohort properties, not '${String(type)}' properties.`,
      'invalid_operator',
    );
  }
  const value = property.value ?? null;
  if (isList(value) && value.length > LIST_MAX_VALUES) {
    throw filtersError(
      `Property group expressions of type ${property.key} cannot contain more than ${LIST_MAX_VALUES} values.`,
    );
  }
  validateValue(operator, value, path, compilePattern);
}

function validateValue(
  operator: string,
  value: JsonValue,
  path: string,
  compilePattern: CompilePattern,
): void {
  if (TEXT_OPERATORS.includes(operator)) {
    validateText(operator, value);
    if (operator.endsWith('regex') && compilePattern(String(value)) === null) {
      throw filtersError(`${path}.value: invalid regex pattern`);
    }
  } else if (LIST_OPERATORS.includes(operator)) {
    if (!isList(value)) {
      throw filtersError(
        `${path}.value: Operator ${operator} requires a list of values.`,
        'cross_field.operator_requires_list_value',
      );
    }
  } else if (RANGE_OPERATORS.includes(operator)) validateRange(operator, value);
  else if (DATE_OPERATORS.includes(operator)) validateDate(value);
  else if (SEMVER_OPERATORS.includes(operator)) validateSemver(operator, value, path);
}

/** A number is as good as its text here: both compare the same way. */
function validateText(operator: string, value: JsonValue): void {
  if (typeof value === 'string' || typeof value === 'number') return;
  throw filtersError(
    `Invalid value for operator ${operator}: ${pythonRepr(value)}`,
    'invalid_value',
  );
}

function validateRange(operator: string, value: JsonValue): void {
  const [from, to, ...others] = isList(value) ? value.map(Number) : [];
  const isRange = from !== undefined && to !== undefined && others.length === 0 && from <= to;
  if (isRange) return;
  throw filtersError(
    `Invalid value for operator ${operator}: ${pythonRepr(value)}`,
    'invalid_value',
  );
}

function validateDate(value: JsonValue): void {
  // Whether a text is a date does not depend on the zone in which it is read.
  const isDate = typeof value === 'string' && parseDate(value, UTC) !== null;
  if (!isDate) {
    const text = typeof value === 'string' ? value : pythonRepr(value);
    throw filtersError(`Invalid date value: ${text}`, 'invalid_date');
  }
}

function validateSemver(operator: string, value: JsonValue, path: string): void {
  if (typeof value !== 'string') {
    throw filtersError(
      `${path}.value: Invalid value for operator ${operator}: expected a semver string.`,
      'cross_field.semver_value_invalid',
    );
  }
  const parsed = operator === 'semver_wildcard' ? parseWildcard(value) : parseVersion(value);
  if (parsed === null) {
    throw filtersError(
      `${path}.value: Invalid semver value for operator ${operator}: ${value}.`,
      'cross_field.semver_value_invalid',
    );
  }
}
