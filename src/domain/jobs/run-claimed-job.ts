import { Refusal } from '../common/refusal.ts';
import { isOutage } from '../database/database-error.ts';
import type { Db } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import type { JobRow } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import {
  type ClaimedJob,
  type JobHandler,
  JobInterrupted,
  LeaseLost,
  PermanentJobError,
} from './job.ts';
import { extendClaim, finishJob, releaseJob, saveProgress } from './jobs-storage.ts';

/** What running a claimed job needs. */
export interface JobRun {
  readonly db: Db;
  readonly log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  readonly leaseMs: number;
  /** How long a job waits after its first failure; twice as long after each further one. */
  readonly retryAfterMs: number;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

/** Failures in a row, a crash of the process among them, after which a job fails for good. */
const FAILURES_MAX = 5;

/** Heartbeats during one lease: two may get lost. */
const BEATS_PER_LEASE = 3;

/** Runs a job to its end, to its failure, or until the service stops. Never rejects. */
export async function runClaimedJob(run: JobRun, handler: JobHandler, row: JobRow): Promise<void> {
  const lost = new AbortController();
  const beats = keepClaim(run, row, lost);
  let failures = row.failures;
  // A failure after a batch that was saved is the first one in a row again.
  const noteSaved = () => {
    failures = 1;
  };
  try {
    if (row.failures > FAILURES_MAX) {
      throw new PermanentJobError(row.error ?? 'The service ended each time it worked on this.');
    }
    const signal = AbortSignal.any([run.stopping, lost.signal]);
    await handler.run(toClaimed(run, row, signal, noteSaved));
    await transaction(run.db, LIMITS.background, (tx) => finishJob(tx, row, null));
  } catch (error) {
    await recordFailure(run, { ...row, failures }, handler, error).catch((cause: unknown) => {
      // The lease expires by itself, and the job is retried.
      run.log.warn({ err: cause, jobId: row.id }, 'The end of a background job was not stored.');
    });
  } finally {
    clearInterval(beats);
  }
}

/** Sends heartbeats while the job runs; aborts it when the lease is lost. */
function keepClaim({ db, leaseMs }: JobRun, row: JobRow, lost: AbortController): NodeJS.Timeout {
  const beats = setInterval(() => {
    extendClaim(db, row, leaseMs).catch((error: unknown) => {
      if (error instanceof LeaseLost) lost.abort();
    });
  }, leaseMs / BEATS_PER_LEASE);
  return beats.unref();
}

function toClaimed(
  { db }: JobRun,
  row: JobRow,
  signal: AbortSignal,
  noteSaved: () => void,
): ClaimedJob {
  return {
    id: row.id,
    projectId: row.project_id,
    subjectId: row.subject_id,
    payload: row.payload,
    progress: row.progress,
    signal,
    async save(progress, work) {
      const result = await transaction(db, LIMITS.background, async (tx) => {
        await saveProgress(tx, row, progress);
        return work(tx);
      });
      noteSaved();
      return result;
    },
  };
}

async function recordFailure(
  run: JobRun,
  row: JobRow,
  handler: JobHandler,
  error: unknown,
): Promise<void> {
  const { db, log } = run;
  if (error instanceof JobInterrupted) {
    await releaseJob(db, row, { afterMs: 0, error: null });
    return;
  }
  const isPermanent = error instanceof PermanentJobError || row.failures >= FAILURES_MAX;
  const reason = describe(error);
  if (isPermanent && !isOutage(error)) {
    // What its owner has to fix is not a fault of the service.
    const level = error instanceof PermanentJobError ? 'warn' : 'error';
    log[level]({ err: error, jobId: row.id, kind: row.kind }, 'A background job failed.');
    await transaction(db, LIMITS.background, async (tx) => {
      await finishJob(tx, row, reason);
      await handler.fail(tx, { projectId: row.project_id, subjectId: row.subject_id }, reason);
    });
    return;
  }
  log.warn({ err: error, jobId: row.id, kind: row.kind }, 'A background job will be retried.');
  const afterMs = run.retryAfterMs * 2 ** Math.max(0, row.failures - 1);
  await releaseJob(db, row, { afterMs, error: isOutage(error) ? null : reason });
}

/** The reason for users: as it is if it was written for them, else in general terms. */
function describe(error: unknown): string {
  if (error instanceof PermanentJobError) return error.message;
  if (error instanceof Refusal) return error.detail;
  return 'An unexpected error occurred. The log of the service has its cause.';
}
