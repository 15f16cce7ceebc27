import type { JsonObject } from '../common/json.ts';
import type { Tx } from '../database/db.ts';

/** The kinds of work that goes on in the background; all are about a cohort. */
export const JOB_KINDS = ['count_cohort', 'fill_cohort_from_flag'] as const;

export type JobKind = (typeof JOB_KINDS)[number];

/** Work to be done after the transaction commits. */
export interface NewJob {
  readonly projectId: number;
  readonly kind: JobKind;
  /** The id of the thing that the job is about. */
  readonly subjectId: number;
  readonly payload: JsonObject;
}

/**
 * Adds a job in the transaction of what it belongs to. The worker should be woken after the commit;
 * otherwise it finds the job when it looks the next time.
 */
export async function addJob(tx: Tx, job: NewJob): Promise<void> {
  await tx('jobs').insert({
    project_id: job.projectId,
    kind: job.kind,
    subject_id: job.subjectId,
    payload: JSON.stringify(job.payload),
  });
}

/**
 * Adds a job unless an equal one has not begun yet. That one is held back until the transaction
 * ends, so that it cannot begin without seeing what the transaction changed.
 */
export async function addJobOnce(tx: Tx, job: NewJob): Promise<void> {
  const waiting = await tx('jobs')
    .where({ kind: job.kind, subject_id: job.subjectId, state: 'waiting' })
    .forUpdate()
    .skipLocked()
    .first('id');
  if (waiting === undefined) await addJob(tx, job);
}
