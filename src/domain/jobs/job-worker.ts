import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseOutage } from '../database/database-error.ts';
import type { JobHandler } from './job.ts';
import { claimJob, deleteFinishedJobs, nextClaimInMs } from './jobs-storage.ts';
import type { JobKind } from './jobs-writes.ts';
import { type JobRun, runClaimedJob } from './run-claimed-job.ts';

export interface JobWorkerOptions extends Pick<JobRun, 'db' | 'log'> {
  readonly handlers: Readonly<Record<JobKind, JobHandler>>;
  /** Runs each time the worker looks for work: adds what has become due. */
  readonly addDueJobs?: () => Promise<void>;
  readonly timing?: Partial<JobTiming>;
}

/** The timing of a worker. */
export interface JobTiming {
  /** How long a job stays claimed after the last heartbeat of its process. */
  readonly leaseMs: number;
  /** How often the worker polls when nobody wakes it. */
  readonly pollEveryMs: number;
  /** How long a job waits after its first failure; twice as long after each further one. */
  readonly retryAfterMs: number;
}

/** One worker of the service: runs background jobs one after the other. */
export interface JobWorker {
  start(): void;
  /** Looks for work now. */
  wake(): void;
  /** Interrupts the job that is under way between two batches, and lets others go on with it. */
  stop(): Promise<void>;
}

const TIMING: JobTiming = { leaseMs: 10_000, pollEveryMs: 30_000, retryAfterMs: 2_000 };

/** Creates the worker of this process. Other processes may work on the same table. */
export function createJobWorker(options: JobWorkerOptions): JobWorker {
  const { db, log } = options;
  const timing = { ...TIMING, ...options.timing };
  const handlers: ReadonlyMap<string, JobHandler> = new Map(Object.entries(options.handlers));
  const kinds = [...handlers.keys()];
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let resting = new AbortController();
  let isAwake = false;

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      isAwake = false;
      let restMs = timing.pollEveryMs;
      try {
        await options.addDueJobs?.();
        await workOff();
        await deleteFinishedJobs(db);
        restMs = Math.min(restMs, (await nextClaimInMs(db, kinds)) ?? restMs);
      } catch (error) {
        if (!isDatabaseOutage(error)) log.error({ err: error }, 'Background jobs were not run.');
      }
      await rest(restMs);
    }
  }

  async function workOff(): Promise<void> {
    while (!stopping.signal.aborted) {
      const row = await claimJob(db, kinds, timing.leaseMs);
      const handler = row === undefined ? undefined : handlers.get(row.kind);
      if (row === undefined || handler === undefined) return;
      await runClaimedJob({ db, log, ...timing, stopping: stopping.signal }, handler, row);
    }
  }

  async function rest(ms: number): Promise<void> {
    if (isAwake || stopping.signal.aborted) return;
    resting = new AbortController();
    const signal = AbortSignal.any([stopping.signal, resting.signal]);
    // One more millisecond: the clocks of the process and the database round differently.
    await delay(ms + 1, undefined, { signal, ref: false }).catch(() => {});
  }

  return {
    start() {
      running = loop();
    },
    wake() {
      isAwake = true;
      resting.abort();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
