import {
  createCountCohortJob,
  requestDueCounts,
} from '../domain/cohorts/counts/count-cohort-job.ts';
import { createFillCohortJob } from '../domain/cohorts/from-flag/fill-cohort-job.ts';
import type { Db } from '../domain/database/db.ts';
import { createJobWorker, type JobWorker } from '../domain/jobs/job-worker.ts';
import { getProject } from '../domain/projects/projects-queries.ts';
import type { SnapshotStore } from '../domain/snapshots/snapshot-store.ts';
import { compilePattern } from '../domain/targeting/patterns.ts';
import type { Log } from '../http/metrics/log.ts';

export interface WorkerOptions {
  readonly db: Db;
  readonly log: Log;
  readonly snapshots: SnapshotStore;
  readonly now: () => Date;
}

/** The worker of everything that goes on after its request was answered. */
export function createWorker({ db, log, snapshots, now }: WorkerOptions): JobWorker {
  const context = {
    db,
    compilePattern,
    now,
    getSnapshot: async (projectId: number) => {
      // Another process may have changed the project, and this one not heard of it yet.
      const project = await getProject(db, projectId);
      if (project === undefined) return undefined;
      await snapshots.catchUp(projectId, project.revision);
      return (await snapshots.getByProjectId(projectId))?.snapshot;
    },
  };
  return createJobWorker({
    db,
    log,
    handlers: {
      count_cohort: createCountCohortJob(context),
      fill_cohort_from_flag: createFillCohortJob(context),
    },
    addDueJobs: () => requestDueCounts({ db }),
  });
}
