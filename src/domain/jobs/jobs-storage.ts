import type { JsonObject } from '../common/json.ts';
import type { Db, Tx } from '../database/db.ts';
import type { JobRow } from '../database/tables.ts';
import { LeaseLost } from './job.ts';

/** The job of one claim; `attempts` tells it from every other claim of the same job. */
export type Claim = Pick<JobRow, 'id' | 'attempts'>;

/** How long finished jobs are kept, for whoever looks into a failure. */
const KEEP_FINISHED_DAYS = 7;

/**
 * Claims the oldest job that nobody works on, with a lease. Each claim counts as a failure until a
 * batch is saved, so that a job that crashes the process is not retried forever.
 */
export async function claimJob(
  db: Db,
  kinds: readonly string[],
  leaseMs: number,
): Promise<JobRow | undefined> {
  const { rows } = await db.raw<{ rows: JobRow[] }>(
    `UPDATE jobs SET state = 'running', attempts = attempts + 1, failures = failures + 1,
            locked_until = now() + ? * interval '1 millisecond'
     WHERE id = (SELECT id FROM jobs
                 WHERE state IN ('waiting', 'running') AND locked_until <= now()
                   AND kind = ANY (?::text[])
                 ORDER BY locked_until, id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING *`,
    [leaseMs, [...kinds]],
  );
  return rows[0];
}

/** In how many milliseconds the next job can be claimed; null when there is none. */
export async function nextClaimInMs(db: Db, kinds: readonly string[]): Promise<number | null> {
  const { rows } = await db.raw<{ rows: { ms: number | null }[] }>(
    `SELECT (extract(epoch FROM min(locked_until) - now()) * 1000)::float8 AS ms FROM jobs
     WHERE state IN ('waiting', 'running') AND kind = ANY (?::text[])`,
    [[...kinds]],
  );
  const ms = rows[0]?.ms ?? null;
  return ms === null ? null : Math.max(0, ms);
}

/** Extends the lease. Throws `LeaseLost` when another process has claimed the job. */
export async function extendClaim(db: Db, claim: Claim, leaseMs: number): Promise<void> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `UPDATE jobs SET locked_until = now() + ? * interval '1 millisecond'
     WHERE id = ? AND attempts = ? AND state = 'running'`,
    [leaseMs, claim.id, claim.attempts],
  );
  checkHeld(rowCount);
}

/** Saves how far the job got. Throws `LeaseLost` when another process has claimed it. */
export async function saveProgress(tx: Tx, claim: Claim, progress: JsonObject): Promise<void> {
  const changed = await tx('jobs')
    .where({ id: claim.id, attempts: claim.attempts, state: 'running' })
    .update({ progress: JSON.stringify(progress), failures: 0 });
  checkHeld(changed);
}

/** Ends the job: done, or failed for a reason. */
export async function finishJob(tx: Tx, claim: Claim, error: string | null): Promise<void> {
  const changed = await tx('jobs')
    .where({ id: claim.id, attempts: claim.attempts, state: 'running' })
    .update({
      state: error === null ? 'done' : 'failed',
      error,
      finished_at: tx.raw('now()'),
    });
  checkHeld(changed);
}

/**
 * Puts the job back, to be claimed again after `afterMs`. With an error this counts as a failure: the
 * claim counted it already, unless a batch was saved since.
 */
export async function releaseJob(
  db: Db,
  claim: Claim,
  release: { readonly afterMs: number; readonly error: string | null },
): Promise<void> {
  const isStopped = release.error === null;
  await db.raw(
    `UPDATE jobs SET state = 'waiting', error = ?,
            failures = CASE WHEN ? THEN greatest(failures - 1, 0) ELSE greatest(failures, 1) END,
            locked_until = now() + ? * interval '1 millisecond'
     WHERE id = ? AND attempts = ? AND state = 'running'`,
    [release.error, isStopped, release.afterMs, claim.id, claim.attempts],
  );
}

/** Deletes jobs that ended long ago. */
export async function deleteFinishedJobs(db: Db): Promise<void> {
  await db.raw(
    `DELETE FROM jobs WHERE state IN ('done', 'failed')
       AND finished_at < now() - ? * interval '1 day'`,
    [KEEP_FINISHED_DAYS],
  );
}

function checkHeld(changed: number): void {
  if (changed === 0) throw new LeaseLost('Another process has claimed the job.');
}
