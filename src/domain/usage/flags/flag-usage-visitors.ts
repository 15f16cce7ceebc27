import { toPlainArray, toTextArray } from '../../database/column-literals.ts';
import type { Statements } from '../../database/pipeline.ts';

/** Who used a flag: a person where there is one, else only a distinct id. */
interface Visit {
  readonly projectId: number;
  readonly distinctId: string;
  readonly personId: number | null;
}

/**
 * The users behind visits without a person: the person that the distinct id got later in the same
 * transaction, else a visitor under a negative number. Needs `lockPersons`.
 */
export async function resolveVisitors(
  tx: Statements,
  visits: readonly Visit[],
): Promise<(visit: Visit) => number | undefined> {
  const byKey = new Map<string, Visit>();
  for (const visit of visits) if (visit.personId === null) byKey.set(toKey(visit), visit);
  const wanted = [...byKey.values()];
  if (wanted.length === 0) return () => undefined;
  const keys = [...byKey.keys()];
  const result: { rows: { position: number; user_id: number }[] } = await tx.raw(
    `WITH wanted AS (
       SELECT w.project_id, w.distinct_id, w.position, d.person_id
       FROM unnest(?::int[], ?::text[]) WITH ORDINALITY AS w (project_id, distinct_id, position)
       LEFT JOIN person_distinct_ids d USING (project_id, distinct_id)
     ), added AS (
       INSERT INTO flag_usage_visitors (project_id, distinct_id)
       SELECT project_id, distinct_id FROM wanted WHERE person_id IS NULL
       ON CONFLICT DO NOTHING
       RETURNING id, project_id, distinct_id
     )
     SELECT w.position, coalesce(w.person_id, -v.id, -a.id) AS user_id
     FROM wanted w
     LEFT JOIN flag_usage_visitors v USING (project_id, distinct_id)
     LEFT JOIN added a USING (project_id, distinct_id)`,
    [
      toPlainArray(wanted.map(({ projectId }) => projectId)),
      toTextArray(wanted.map(({ distinctId }) => distinctId)),
    ],
  );
  const found = new Map(
    result.rows.map(({ position, user_id }) => [keys[position - 1] ?? '', user_id]),
  );
  return (visit) => found.get(toKey(visit));
}

/** Removes the visitors behind distinct ids that got a person; returns the persons. */
export async function takeVisitors(
  tx: Statements,
  attached: {
    readonly projectIds: readonly number[];
    readonly distinctIds: readonly string[];
    readonly personIds: readonly number[];
  },
): Promise<{ readonly userId: number; readonly personId: number }[]> {
  const result: { rows: { user_id: number; person_id: number }[] } = await tx.raw(
    `DELETE FROM flag_usage_visitors AS v
     USING unnest(?::int[], ?::text[], ?::bigint[]) AS a (project_id, distinct_id, person_id)
     WHERE v.project_id = a.project_id AND v.distinct_id = a.distinct_id
     RETURNING -v.id AS user_id, a.person_id`,
    [
      toPlainArray(attached.projectIds),
      toTextArray(attached.distinctIds),
      toPlainArray(attached.personIds),
    ],
  );
  return result.rows.map((row) => ({ userId: row.user_id, personId: row.person_id }));
}

function toKey({ projectId, distinctId }: Visit): string {
  return `${projectId} ${distinctId}`;
}
