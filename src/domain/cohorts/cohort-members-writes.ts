import type { Tx } from '../database/db.ts';

/** Moves the cohort memberships of an absorbed person to the one that absorbed it. */
export async function moveCohortMemberships(
  tx: Tx,
  _projectId: number,
  fromPersonId: number,
  toPersonId: number,
): Promise<void> {
  await tx.raw(
    `INSERT INTO cohort_members (cohort_id, person_id, added_at)
     SELECT cohort_id, ?, added_at FROM cohort_members WHERE person_id = ?
     ON CONFLICT DO NOTHING`,
    [toPersonId, fromPersonId],
  );
  await tx('cohort_members').where({ person_id: fromPersonId }).delete();
}
