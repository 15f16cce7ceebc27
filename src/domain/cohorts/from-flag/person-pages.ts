import { PRINCIPAL_DISTINCT_ID } from '../../audience/condition-sql.ts';
import { runSql, sql } from '../../audience/sql.ts';
import type { JsonObject } from '../../common/json.ts';
import type { Db } from '../../database/db.ts';

/** A person with everything that evaluating a flag can read. */
export interface StoredPerson {
  readonly id: number;
  readonly uuid: string;
  readonly distinctId: string;
  readonly properties: JsonObject;
  readonly createdAt: Date;
  /** The static cohorts that the person is in. */
  readonly cohortIds: readonly number[];
  /** The identifiers that experience continuity keeps, by flag key. */
  readonly overrides: Readonly<Record<string, string>>;
}

interface PersonPageRow {
  readonly id: number;
  readonly uuid: string;
  readonly distinct_id: string;
  readonly properties: JsonObject;
  readonly created_at: Date;
  readonly cohort_ids: number[];
  readonly overrides: Record<string, string> | null;
}

/** Persons of a project in the order of their uuid, from behind the one that was last. */
export async function readPersonPage(
  db: Db,
  page: { readonly projectId: number; readonly after: string | null; readonly limit: number },
): Promise<StoredPerson[]> {
  const behind = page.after === null ? sql`` : sql`AND s.uuid > ${page.after}::uuid`;
  const rows = await runSql<PersonPageRow>(
    db,
    sql`SELECT s.id, s.uuid, s.properties, s.created_at, ${PRINCIPAL_DISTINCT_ID} AS distinct_id,
               ARRAY(SELECT m.cohort_id FROM cohort_members m WHERE m.person_id = s.id) AS cohort_ids,
               (SELECT jsonb_object_agg(o.feature_flag_key, o.hash_key)
                FROM hash_key_overrides o WHERE o.person_id = s.id) AS overrides
        FROM persons s
        WHERE s.project_id = ${page.projectId}::int ${behind}
        ORDER BY s.uuid LIMIT ${page.limit}::int`,
  );
  return rows.map((row) => ({
    id: row.id,
    uuid: row.uuid,
    distinctId: row.distinct_id,
    properties: row.properties,
    createdAt: row.created_at,
    cohortIds: row.cohort_ids,
    overrides: row.overrides ?? {},
  }));
}
