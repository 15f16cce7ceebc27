import type { CohortInput, DescribedCohort } from '../../domain/cohorts/cohort.ts';
import { isJsonObject, type JsonObject } from '../../domain/common/json.ts';
import { invalidField } from '../../domain/common/refusal.ts';
import type { Person } from '../../domain/persons/persons-queries.ts';
import type { Body } from '../../operations/operation.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';
import { toUserBody } from '../common/user-body.ts';

/** A cohort as the management API sends it. */
export function toCohortBody({ cohort, isCalculating, createdBy }: DescribedCohort) {
  return {
    id: cohort.id,
    name: cohort.name,
    description: cohort.description,
    groups: cohort.groups.map((group) => ({ ...group })),
    deleted: cohort.deleted,
    filters: cohort.filters === null ? null : { ...cohort.filters },
    query: null,
    is_calculating: isCalculating,
    created_by: toUserBody(createdBy),
    created_at: cohort.createdAt.toISOString(),
    last_calculation: cohort.lastCalculation?.toISOString() ?? null,
    errors_calculating: cohort.errorsCalculating,
    last_error_message: cohort.lastError,
    count: cohort.count,
    is_static: cohort.isStatic,
    cohort_type: cohort.cohortType,
    experiment_set: [],
  };
}

/** A member of a cohort as the management API sends it. */
export function toPersonBody(person: Person) {
  return {
    id: person.uuid,
    uuid: person.uuid,
    type: 'person' as const,
    name: nameOf(person),
    distinct_ids: [...person.distinctIds],
    properties: person.properties,
    is_identified: person.isIdentified,
    created_at: person.createdAt.toISOString(),
  };
}

function nameOf({ properties, distinctIds, uuid }: Person): string {
  const named = [properties.email, properties.name].find(
    (value) => typeof value === 'string' && value !== '',
  );
  return typeof named === 'string' ? named : (distinctIds[0] ?? uuid);
}

type CohortInputBody = NonNullable<Body<'updateCohort'>>;

/** The fields that a body writes; those that it leaves out stay absent. */
export function toCohortInput(body: CohortInputBody): CohortInput {
  refuseUnstorableText(body);
  if ((body.query ?? null) !== null) {
    throw invalidField('query', 'Cohorts from queries are not supported.');
  }
  const fields: { [Field in keyof CohortInput]: CohortInput[Field] | undefined } = {
    name: body.name,
    description: body.description === null ? '' : body.description,
    isStatic: body.is_static,
    filters: toFilters(body.filters),
    groups: body.groups?.filter(isJsonObject),
    deleted: body.deleted,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function toFilters(value: unknown): JsonObject | null | undefined {
  if (value === undefined || value === null) return value;
  return isJsonObject(value) ? value : undefined;
}
