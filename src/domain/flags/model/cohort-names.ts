import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import { conditionsOf, propertiesOf } from './flag.ts';

/** The names of cohorts by their id, as far as they are known. */
export type CohortNames = ReadonlyMap<number, string>;

/** The ids of the cohorts that the filters refer to. */
export function listCohortIds(filters: JsonObject): number[] {
  return conditionsOf(filters).flatMap((condition) =>
    propertiesOf(condition).flatMap((property) => cohortIdOf(property) ?? []),
  );
}

/**
 * The filters with the name of each cohort beside its id, null where there is no such cohort. Names
 * that were stored with the filters may be out of date and are replaced.
 */
export function withCohortNames(filters: JsonObject, names: CohortNames): JsonObject {
  const { groups } = filters;
  if (!Array.isArray(groups) || !groups.some(hasCohort)) return filters;
  return { ...filters, groups: groups.map((condition) => nameCohorts(condition, names)) };
}

function nameCohorts(condition: JsonValue, names: CohortNames): JsonValue {
  if (!isJsonObject(condition) || !Array.isArray(condition.properties)) return condition;
  const properties = condition.properties.map((property: JsonValue) => {
    if (!isJsonObject(property) || property.type !== 'cohort') return property;
    const id = cohortIdOf(property);
    return { ...property, cohort_name: (id === null ? null : names.get(id)) ?? null };
  });
  return { ...condition, properties };
}

function hasCohort(condition: JsonValue): boolean {
  if (!isJsonObject(condition)) return false;
  return propertiesOf(condition).some(({ type }) => type === 'cohort');
}

/** The id that a property filter on a cohort carries; null when it carries none. */
function cohortIdOf(property: JsonObject): number | null {
  const { type, value } = property;
  return type === 'cohort' && typeof value === 'number' && Number.isInteger(value) ? value : null;
}
