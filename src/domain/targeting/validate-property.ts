import type { JsonObject, JsonValue } from '../common/json.ts';
import type { Refusal } from '../common/refusal.ts';
import type { CompilePattern } from '../evaluation/model/definitions.ts';
import {
  isOperator,
  OPERATORS,
  type Operator,
  type OperatorValue,
} from '../evaluation/model/operators.ts';
import { parseDate } from '../evaluation/values/date-value.ts';
import { parseVersion, parseWildcard } from '../evaluation/values/semver.ts';
import { createWallClock } from '../evaluation/values/wall-clock.ts';
import { filtersError, isList } from './filters-structure.ts';
import { pythonRepr } from './python-text.ts';

/** The most values that one property filter may list. */
const LIST_MAX_VALUES = 1_000;

const UTC = createWallClock('UTC');

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
  if (type === 'flag' && operator !== 'flag_evaluates_to') {
    throw filtersError("Flag properties must use the 'flag_evaluates_to' operator");
  }
  if (!isOperator(operator)) {
    throw filtersError(`Invalid operator: ${operator}`, 'invalid_operator');
  }
  if (OPERATORS[operator].value === 'cohort' && type !== 'cohort') {
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
  VALIDATE_VALUE[OPERATORS[operator].value](value, { operator, path, compilePattern });
}

/** Where a value stands. */
interface Place {
  readonly operator: Operator;
  readonly path: string;
  readonly compilePattern: CompilePattern;
}

/** Throws 400 when the value does not suit the operator. */
type ValidateValue = (value: JsonValue, place: Place) => void;

const acceptAny: ValidateValue = () => {};

const VALIDATE_VALUE: Readonly<Record<OperatorValue, ValidateValue>> = {
  any: acceptAny,
  none: acceptAny,
  text: validateText,
  pattern: validatePattern,
  list: validateList,
  range: validateRange,
  date: validateDate,
  version: (value, place) => validateVersion(value, place, parseVersion),
  version_wildcard: (value, place) => validateVersion(value, place, parseWildcard),
  // References to cohorts and flags are validated where what they refer to is known.
  cohort: acceptAny,
  flag: acceptAny,
};

/** A number is as good as its text here: both compare the same way. */
function validateText(value: JsonValue, { operator }: Place): void {
  if (typeof value !== 'string' && typeof value !== 'number') throw invalidValue(value, operator);
}

function validatePattern(value: JsonValue, place: Place): void {
  validateText(value, place);
  if (place.compilePattern(String(value)) === null) {
    throw filtersError(`${place.path}.value: invalid regex pattern`);
  }
}

function validateList(value: JsonValue, { operator, path }: Place): void {
  if (isList(value)) return;
  throw filtersError(
    `${path}.value: Operator ${operator} requires a list of values.`,
    'cross_field.operator_requires_list_value',
  );
}

function validateRange(value: JsonValue, { operator }: Place): void {
  const [from, to, ...others] = isList(value) ? value.map(Number) : [];
  const isRange = from !== undefined && to !== undefined && others.length === 0 && from <= to;
  if (!isRange) throw invalidValue(value, operator);
}

function invalidValue(value: JsonValue, operator: Operator): Refusal {
  const detail = `Invalid value for operator ${operator}: ${pythonRepr(value)}`;
  return filtersError(detail, 'invalid_value');
}

function validateDate(value: JsonValue): void {
  // Whether a text is a date does not depend on the zone in which it is read.
  const isDate = typeof value === 'string' && parseDate(value, UTC) !== null;
  if (isDate) return;
  const text = typeof value === 'string' ? value : pythonRepr(value);
  throw filtersError(`Invalid date value: ${text}`, 'invalid_date');
}

function validateVersion(
  value: JsonValue,
  { operator, path }: Place,
  parse: (text: string) => object | null,
): void {
  if (typeof value !== 'string') {
    throw filtersError(
      `${path}.value: Invalid value for operator ${operator}: expected a semver string.`,
      'cross_field.semver_value_invalid',
    );
  }
  if (parse(value) === null) {
    throw filtersError(
      `${path}.value: Invalid semver value for operator ${operator}: ${value}.`,
      'cross_field.semver_value_invalid',
    );
  }
}
