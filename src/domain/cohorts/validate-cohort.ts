import { isJsonObject, type JsonObject, type JsonValue } from '../common/json.ts';
import { invalidField, type Refusal } from '../common/refusal.ts';
import type { CompilePattern } from '../evaluation/model/definitions.ts';
import { isOperator, OPERATORS, type OperatorValue } from '../evaluation/model/operators.ts';
import { validateProperty } from '../targeting/validate-property.ts';

/** The largest definition, as the bytes of its compact JSON. */
const DEFINITION_MAX_BYTES = 524_288;
const DEPTH_MAX = 20;
const FILTERS_MAX = 1_000;

const BEHAVIOURAL: ReadonlySet<JsonValue> = new Set(['behavioral', 'lifecycle']);
const COHORT_OPERATORS: ReadonlySet<JsonValue> = new Set(['in', 'not_in', 'exact']);
const ID_MAX = 2_147_483_647;

/** One pass over a definition: the field it is in, and what was found on the way. */
interface Reading {
  readonly attr: 'filters' | 'groups';
  readonly compilePattern: CompilePattern;
  readonly cohortIds: Set<number>;
  filters: number;
}

/**
 * Checks the definition of a dynamic cohort as far as that needs no other stored thing: nested AND
 * and OR under `filters.properties`, or the older `groups`. Returns the ids of the cohorts that it
 * refers to. Throws 400 on the field that breaks a rule.
 */
export function validateDefinition(
  definition: { readonly filters: JsonObject | null; readonly groups: readonly JsonObject[] },
  compilePattern: CompilePattern,
): ReadonlySet<number> {
  const { filters, groups } = definition;
  const hasFilters = filters !== null && Object.keys(filters).length > 0;
  const attr = hasFilters || groups.length === 0 ? 'filters' : 'groups';
  const reading: Reading = { attr, compilePattern, cohortIds: new Set(), filters: 0 };
  checkSize(definition, attr);
  if (attr === 'groups') {
    for (const [index, group] of groups.entries())
      checkOldGroup(group, `groups[${index}]`, reading);
  } else {
    checkRoot(filters?.properties, reading);
  }
  return reading.cohortIds;
}

/** Whether a client that creates a static cohort sends filters with conditions. */
export function hasConditions(filters: JsonObject | null | undefined): boolean {
  const properties = filters?.properties;
  if (!isJsonObject(properties)) return false;
  return Array.isArray(properties.values) && properties.values.length > 0;
}

/** A definition that refers to a cohort that does not exist. */
export function unknownCohort(attr: string, id: number): Refusal {
  return invalidField(attr, `Cohort with id ${id} does not exist`, 'cohort_does_not_exist');
}

function checkSize(definition: object, attr: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(definition));
  if (bytes <= DEFINITION_MAX_BYTES) return;
  throw invalidField(
    attr,
    `The definition of a cohort may have at most ${DEFINITION_MAX_BYTES} bytes, not ${bytes}.`,
  );
}

function checkRoot(properties: JsonValue | undefined, reading: Reading): void {
  if (!isJsonObject(properties) || !isGroup(properties)) {
    throw invalidField(
      'filters',
      "Filters must contain a 'properties' key with type AND or OR and values.",
    );
  }
  checkNode(properties, 'properties', reading, 0);
}

function isGroup(node: JsonObject): boolean {
  return node.type === 'AND' || node.type === 'OR';
}

function checkNode(node: JsonValue, path: string, reading: Reading, depth: number): void {
  if (!isJsonObject(node)) throw broken(reading, path, 'must be an object.');
  checkNegation(node, path, reading);
  if (!isGroup(node)) {
    checkLeaf(node, path, reading);
    return;
  }
  if (depth >= DEPTH_MAX) throw broken(reading, path, `is nested deeper than ${DEPTH_MAX} levels.`);
  const { values } = node;
  if (!Array.isArray(values)) throw broken(reading, `${path}.values`, 'must be a list.');
  // An empty AND would match everybody, which nobody means.
  if (values.length === 0) throw broken(reading, `${path}.values`, 'must not be empty.');
  for (const [index, child] of values.entries()) {
    checkNode(child, `${path}.values[${index}]`, reading, depth + 1);
  }
}

function checkNegation(node: JsonObject, path: string, reading: Reading): void {
  const negation = node.negation ?? null;
  if (negation === null || typeof negation === 'boolean') return;
  throw broken(reading, `${path}.negation`, 'must be a boolean or null.');
}

function checkLeaf(leaf: JsonObject, path: string, reading: Reading): void {
  reading.filters += 1;
  if (reading.filters > FILTERS_MAX) {
    throw invalidField(reading.attr, `A cohort may have at most ${FILTERS_MAX} filters.`);
  }
  const type = leaf.type ?? null;
  if (BEHAVIOURAL.has(type)) throw onEvents(reading);
  if (type === 'cohort') {
    checkCohortLeaf(leaf, path, reading);
    return;
  }
  if (type !== 'person' && type !== 'person_metadata') {
    throw broken(reading, `${path}.type`, 'must be AND, OR, person, person_metadata or cohort.');
  }
  const { key } = leaf;
  if (typeof key !== 'string' || key === '') {
    throw broken(reading, `${path}.key`, 'must be the name of a property.');
  }
  if (type === 'person_metadata' && key !== 'created_at') {
    throw broken(reading, `${path}.key`, 'must be created_at for person_metadata.');
  }
  const operator = leaf.operator ?? null;
  if (operator !== null && typeof operator !== 'string') {
    throw broken(reading, `${path}.operator`, 'must be a string or null.');
  }
  if (valueKindOf(operator) === 'flag') {
    throw broken(reading, `${path}.operator`, 'cannot be used in a cohort.');
  }
  checkOperator(leaf, path, reading);
}

/** The rules about operators and their values are those of flags. */
function checkOperator(leaf: JsonObject, path: string, reading: Reading): void {
  validateProperty(leaf, path, reading.compilePattern);
  const needsValue = valueKindOf(leaf.operator ?? 'exact') !== 'none';
  if (needsValue && (leaf.value ?? null) === null) {
    throw broken(reading, `${path}.value`, 'is required for this operator.');
  }
}

function valueKindOf(operator: JsonValue): OperatorValue | null {
  if (typeof operator !== 'string' || !isOperator(operator)) return null;
  return OPERATORS[operator].value;
}

function checkCohortLeaf(leaf: JsonObject, path: string, reading: Reading): void {
  const { value, operator } = leaf;
  const isId =
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= ID_MAX;
  if (!isId) throw broken(reading, `${path}.value`, 'must be the id of a cohort, as a number.');
  if ((operator ?? null) !== null && !COHORT_OPERATORS.has(operator ?? null)) {
    throw broken(reading, `${path}.operator`, 'must be in or not_in for a cohort.');
  }
  reading.cohortIds.add(value);
}

/** Old groups list person properties that all have to match; their leaves may leave the type out. */
function checkOldGroup(group: JsonObject, path: string, reading: Reading): void {
  const isOnEvents = [group.action_id, group.event_id].some((id) => (id ?? null) !== null);
  if (isOnEvents) throw onEvents(reading);
  const { properties } = group;
  if (!Array.isArray(properties) || properties.length === 0) {
    throw broken(reading, `${path}.properties`, 'must be a list of property filters.');
  }
  for (const [index, leaf] of properties.entries()) {
    const typed = isJsonObject(leaf) && isUntyped(leaf) ? { ...leaf, type: 'person' } : leaf;
    checkNode(typed, `${path}.properties[${index}]`, reading, DEPTH_MAX);
  }
}

function isUntyped({ type }: JsonObject): boolean {
  return (type ?? null) === null || type === 'event';
}

function broken({ attr }: Reading, path: string, rule: string): Refusal {
  return invalidField(attr, `${path} ${rule}`);
}

function onEvents({ attr }: Reading): Refusal {
  return invalidField(
    attr,
    'Filters on events are not supported in cohorts: Burgee only knows the properties of persons.',
    'behavioral_cohort_found',
  );
}
