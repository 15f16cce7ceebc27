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
  /** Aborted when the service stops or the job is no longer this process's. */
  readonly signal: AbortSignal;
  /**
   * Does a batch of the work and notes how far it got, both or neither. Throws `JobGivenUp` when
   * the job is not this process's any more, so that no batch is done twice.
   */
  save<Result>(progress: JsonObject, work: (tx: Tx) => Promise<Result>): Promise<Result>;
}

/** What a kind of job does. */
export interface JobHandler {
  /** Does the work, from where `job.progress` says that it stopped. May throw `JobGivenUp`. */
  run(job: ClaimedJob): Promise<void>;
  /** Called in the transaction that gives the job up for good; says so where people look. */
  fail(tx: Tx, job: Pick<ClaimedJob, 'projectId' | 'subjectId'>, reason: string): Promise<void>;
}

/** Stops the run of a job without a failure: somebody goes on with it later. */
export class JobGivenUp extends Error {
  override readonly name = 'JobGivenUp';
}

/** A failure that another try would only repeat. Its message is for people. */
export class HopelessJob extends Error {
  override readonly name = 'HopelessJob';
}

/** Throws `JobGivenUp` when the service stops. Long work asks between two batches. */
export function checkNotStopped(job: Pick<ClaimedJob, 'signal'>): void {
  if (job.signal.aborted) throw new JobGivenUp('The service stops.');
}
