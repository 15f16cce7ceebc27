import type { Tx } from '../../database/db.ts';
import type { Statements } from '../../database/pipeline.ts';

/**
 * Moves the cohort memberships of an absorbed person to the one that absorbed it. A cohort that
 * both were in has one member less afterwards.
 */
export async function moveCohortMemberships(
  tx: Statements,
  _projectId: number,
  fromPersonId: number,
  toPersonId: number,
): Promise<void> {
  await tx.raw(
    `WITH removed AS (
       DELETE FROM cohort_members WHERE person_id = ? RETURNING cohort_id, added_at
     ), moved AS (
       INSERT INTO cohort_members (cohort_id, person_id, added_at)
       SELECT cohort_id, ?, added_at FROM removed
       ON CONFLICT DO NOTHING
       RETURNING cohort_id
     )
     UPDATE cohorts SET count = count - 1
     WHERE id IN (SELECT cohort_id FROM removed EXCEPT SELECT cohort_id FROM moved)`,
    [fromPersonId, toPersonId],
  );
}

/**
 * Adds persons to a static cohort and raises its count by those who were not in it; persons who
 * no longer exist are skipped. Needs `lockPersons`: a merge must not happen in between. Returns how
 * many are new.
 */
export async function addMembers(
  tx: Tx,
  cohort: { readonly id: number; readonly projectId: number },
  personIds: readonly number[],
): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `INSERT INTO cohort_members (cohort_id, person_id)
     SELECT ?, id FROM persons WHERE id = ANY (?::bigint[]) AND project_id = ?
     ON CONFLICT DO NOTHING`,
    [cohort.id, [...personIds], cohort.projectId],
  );
  await changeCount(tx, cohort.id, rowCount);
  return rowCount;
}

/** Removes persons from a static cohort and lowers its count. Needs `lockPersons`. */
export async function removeMembers(
  tx: Tx,
  cohortId: number,
  personIds: readonly number[],
): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    'DELETE FROM cohort_members WHERE cohort_id = ? AND person_id = ANY (?::bigint[])',
    [cohortId, [...personIds]],
  );
  await changeCount(tx, cohortId, -rowCount);
  return rowCount;
}

/** Empties a static cohort. Needs `lockPersons`. */
export async function removeAllMembers(tx: Tx, cohortId: number): Promise<void> {
  await tx('cohort_members').where({ cohort_id: cohortId }).delete();
  await tx('cohorts').where({ id: cohortId }).update({ count: 0 });
}

/** Takes a person out of every static cohort and lowers their counts. Needs `lockPersons`. */
export async function removeFromCohorts(tx: Tx, personId: number): Promise<void> {
  await tx.raw(
    `WITH removed AS (
       DELETE FROM cohort_members WHERE person_id = ? RETURNING cohort_id
     )
     UPDATE cohorts SET count = count - 1 WHERE id IN (SELECT cohort_id FROM removed)`,
    [personId],
  );
}

async function changeCount(tx: Tx, cohortId: number, by: number): Promise<void> {
  if (by === 0) return;
  await tx('cohorts')
    .where({ id: cohortId })
    .update({ count: tx.raw('coalesce(count, 0) + ?', [by]) });
}
