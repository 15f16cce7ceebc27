import type { JsonObject } from '../common/json.ts';
import type { Tx } from '../database/db.ts';

/** A job that this process has claimed. */
export interface ClaimedJob {
  readonly id: number;
  readonly projectId: number;
  /** The id of the thing that the job is about. */
  readonly subjectId: number;
  readonly payload: JsonObject;
  /** What was saved last; empty at first. */
  readonly progress: JsonObject;
  /** Aborted when the service stops or the lease is lost. */
  readonly signal: AbortSignal;
  /**
   * Does a batch of the work and saves the progress, in one transaction. Throws `LeaseLost` when
   * another process has claimed the job, so that no batch is done twice.
   */
  save<Result>(progress: JsonObject, work: (tx: Tx) => Promise<Result>): Promise<Result>;
}

/** What a kind of job does. */
export interface JobHandler {
  /** Does the work, from where `job.progress` says that it stopped. May throw `JobInterrupted`. */
  run(job: ClaimedJob): Promise<void>;
  /** Called in the transaction in which the job fails for good; stores the reason where users see it. */
  fail(tx: Tx, job: Pick<ClaimedJob, 'projectId' | 'subjectId'>, reason: string): Promise<void>;
}

/** Interrupts the run of a job without a failure: somebody goes on with it later. */
export class JobInterrupted extends Error {
  override readonly name: string = 'JobInterrupted';
}

/** Another process has claimed the job, since this one showed no sign of life for too long. */
export class LeaseLost extends JobInterrupted {
  override readonly name = 'LeaseLost';
}

/** A failure that another attempt would only repeat. Its message is shown to users. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}

/** Throws `JobInterrupted` when the service stops or the lease is lost. To be called between batches. */
export function checkNotStopped(job: Pick<ClaimedJob, 'signal'>): void {
  if (job.signal.aborted) throw new JobInterrupted('The service stops, or the lease is lost.');
}
