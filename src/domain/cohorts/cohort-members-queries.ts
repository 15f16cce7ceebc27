import type { Db } from '../database/db.ts';
import type { PersonRow } from '../database/tables.ts';
import type { Person } from '../persons/persons-queries.ts';

/** The most distinct ids of one person that a page shows. */
const DISTINCT_IDS_MAX = 100;

/** One page of the members of a static cohort, by the id of their person. */
export async function listCohortMembers(
  db: Db,
  cohortId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<Person[]> {
  const { rows } = await db.raw<{ rows: (PersonRow & { distinct_ids: string[] })[] }>(
    `SELECT p.*, ARRAY(SELECT d.distinct_id FROM person_distinct_ids d WHERE d.person_id = p.id
                       ORDER BY d.distinct_id COLLATE "C" LIMIT ?) AS distinct_ids
     FROM (SELECT person_id FROM cohort_members WHERE cohort_id = ?
           ORDER BY person_id LIMIT ? OFFSET ?) AS m
     JOIN persons p ON p.id = m.person_id
     ORDER BY p.id`,
    [DISTINCT_IDS_MAX, cohortId, page.limit, page.offset],
  );
  return rows.map((row) => ({
    id: row.id,
    uuid: row.uuid,
    distinctIds: row.distinct_ids,
    properties: row.properties,
    isIdentified: row.is_identified,
    createdAt: row.created_at,
  }));
}
