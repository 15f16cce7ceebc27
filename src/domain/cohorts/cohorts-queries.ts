import type { Db } from '../database/db.ts';
import type { CohortDefinition } from '../evaluation/definitions.ts';

/** The cohorts of the project that are not deleted, lowest id first: what a snapshot is made of. */
export async function listCohortDefinitions(
  db: Db,
  projectId: number,
): Promise<CohortDefinition[]> {
  const rows = await db('cohorts')
    .where({ project_id: projectId, deleted: false })
    .orderBy('id')
    .select('id', 'name', 'is_static', 'cohort_type', 'filters', 'groups');
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    isStatic: row.is_static,
    cohortType: row.cohort_type,
    filters: row.filters,
    groups: row.groups,
  }));
}
