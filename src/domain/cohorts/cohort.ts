import { isJsonObject, type JsonObject, type JsonValue } from '../common/json.ts';
import type { CohortRow } from '../database/tables.ts';
import type { User } from '../projects/project.ts';

/** A cohort as it is stored. */
export interface Cohort {
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly description: string;
  readonly isStatic: boolean;
  readonly cohortType: string | null;
  readonly filters: JsonObject | null;
  /** The older form of filters. */
  readonly groups: readonly JsonObject[];
  readonly deleted: boolean;
  readonly createdById: number | null;
  readonly createdAt: Date;
  /** How many persons are in it; null before it was first counted. */
  readonly count: number | null;
  readonly lastCalculation: Date | null;
  /** How often in a row computing failed, and why the last time. */
  readonly errorsCalculating: number;
  readonly lastError: string | null;
}

/** A cohort with the user who created it and its background jobs. */
export interface DescribedCohort {
  readonly cohort: Cohort;
  readonly isCalculating: boolean;
  readonly createdBy: User | null;
}

/** What a client may write. Absent fields are left alone. */
export interface CohortInput {
  readonly name?: string;
  readonly description?: string;
  readonly isStatic?: boolean;
  readonly filters?: JsonObject | null;
  readonly groups?: readonly JsonObject[];
  readonly deleted?: boolean;
}

/** The cohort of a row. */
export function toCohort(row: CohortRow): Cohort {
  const isStatic = row.is_static || row.cohort_type === 'static';
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    description: row.description,
    isStatic,
    cohortType: row.cohort_type,
    filters: row.filters,
    groups: objectsIn(row.groups),
    deleted: row.deleted,
    createdById: row.created_by,
    createdAt: row.created_at,
    count: row.count ?? (isStatic ? 0 : null),
    lastCalculation: row.last_calculation,
    errorsCalculating: row.errors_calculating,
    lastError: row.last_error,
  };
}

/** The fields whose changes the activity log records, by the names of the API. */
export function loggedFields(cohort: Cohort): Record<string, JsonValue> {
  return {
    name: cohort.name,
    description: cohort.description,
    filters: cohort.filters,
    groups: cohort.groups,
    deleted: cohort.deleted,
  };
}

function objectsIn(value: JsonValue): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
