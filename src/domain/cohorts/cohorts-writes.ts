import type { ActivityKind, Change } from '../activity/activity.ts';
import { writeActivity } from '../activity/activity-writes.ts';
import type { Tx } from '../database/db.ts';
import { addJobOnce } from '../jobs/jobs-writes.ts';
import type { Cohort } from './cohort.ts';

/** The scope of cohorts in the activity log. */
export const COHORT_ACTIVITY_SCOPE = 'Cohort';

/** Who writes to which project. */
export interface CohortAuthor {
  readonly projectId: number;
  readonly userId: number | null;
}

/** Writes the activity row of a change. */
export async function logCohortChange(
  tx: Tx,
  author: CohortAuthor,
  cohort: Cohort,
  activity: ActivityKind,
  changes: readonly Change[],
): Promise<void> {
  await writeActivity(tx, {
    projectId: author.projectId,
    userId: author.userId,
    activity,
    scope: COHORT_ACTIVITY_SCOPE,
    itemId: String(cohort.id),
    name: cohort.name,
    changes,
  });
}

/** Has dynamic cohorts counted in the background. Static and deleted ones are skipped. */
export async function requestCount(
  tx: Tx,
  projectId: number,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  const dynamic = await tx('cohorts')
    .where({ project_id: projectId, is_static: false, deleted: false })
    .whereIn('id', [...ids])
    .orderBy('id')
    .pluck('id');
  for (const id of dynamic) {
    await addJobOnce(tx, { projectId, kind: 'count_cohort', subjectId: id, payload: {} });
  }
}

/** Notes that computing a cohort failed, and why. */
export async function noteFailure(tx: Tx, cohortId: number, reason: string): Promise<void> {
  await tx('cohorts')
    .where({ id: cohortId })
    .update({ errors_calculating: tx.raw('errors_calculating + 1'), last_error: reason });
}

/** Notes that computing a cohort succeeded; `count` is left out where it is kept in step. */
export async function noteSuccess(tx: Tx, cohortId: number, count?: number): Promise<void> {
  await tx('cohorts')
    .where({ id: cohortId })
    .update({
      ...(count === undefined ? {} : { count }),
      last_calculation: tx.raw('now()'),
      errors_calculating: 0,
      last_error: null,
    });
}
