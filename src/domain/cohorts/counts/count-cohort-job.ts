import { UncountableFilters } from '../../audience/audience-filters.ts';
import { countAudience } from '../../audience/count-audience.ts';
import { prepareAudience } from '../../audience/prepare-audience.ts';
import { Refusal } from '../../common/refusal.ts';
import { isStatementTimeout } from '../../database/database-error.ts';
import type { Db } from '../../database/db.ts';
import { COHORT_COUNT_STATEMENT_MS, LIMITS } from '../../database/deadlines.ts';
import { transaction } from '../../database/transaction.ts';
import type { CompilePattern } from '../../evaluation/model/definitions.ts';
import type { Snapshot } from '../../evaluation/model/snapshot.ts';
import { checkNotStopped, type JobHandler, PermanentJobError } from '../../jobs/job.ts';
import { noteFailure, noteSuccess, requestCount } from '../cohorts-writes.ts';

/** What jobs about cohorts need. */
export interface CohortJobsContext {
  readonly db: Db;
  readonly compilePattern: CompilePattern;
  readonly now: () => Date;
  /** What is served of the project, at least as new as the job. */
  readonly getSnapshot: (projectId: number) => Promise<Snapshot | undefined>;
  /** How long a count may take. */
  readonly timeoutMs?: number;
}

/** A count that is older than this is taken again. */
const RECOUNT_AFTER_HOURS = 24;
const RECOUNTS_AT_ONCE = 20;

/** The job that counts the persons in a dynamic cohort. */
export function createCountCohortJob(context: CohortJobsContext): JobHandler {
  return {
    async run(job) {
      const { db, compilePattern, now, timeoutMs = COHORT_COUNT_STATEMENT_MS } = context;
      const snapshot = await context.getSnapshot(job.projectId);
      // Deleted in the meantime: there is nothing left to count.
      if (snapshot?.cohorts.has(job.subjectId) !== true) return;
      const member = { key: 'id', type: 'cohort', value: job.subjectId, operator: 'in' };
      try {
        const condition = prepareAudience([member], null, snapshot, compilePattern);
        const { affected } = await countAudience(db, snapshot, condition, {
          now: now(),
          timeoutMs,
          signal: job.signal,
        });
        await job.save({}, (tx) => noteSuccess(tx, job.subjectId, affected));
      } catch (error) {
        checkNotStopped(job);
        if (error instanceof UncountableFilters) {
          throw new PermanentJobError('The filters of this cohort cannot be evaluated.');
        }
        // A retry would take as long, and delay every other job each time.
        if (error instanceof Refusal && isStatementTimeout(error.cause)) {
          throw new PermanentJobError('Counting this cohort takes too long.');
        }
        throw error;
      }
    },
    fail: (tx, job, reason) => noteFailure(tx, job.subjectId, reason),
  };
}

/**
 * Has dynamic cohorts counted again whose count is old: persons change all the time. Those that are
 * about to be counted, or are being counted, are skipped.
 */
export async function requestDueCounts({ db }: Pick<CohortJobsContext, 'db'>): Promise<void> {
  await transaction(db, LIMITS.background, async (tx) => {
    const due = await tx('cohorts')
      .where({ deleted: false, is_static: false })
      .whereRaw("coalesce(last_calculation, created_at) < now() - ? * interval '1 hour'", [
        RECOUNT_AFTER_HOURS,
      ])
      .where({ errors_calculating: 0 })
      .whereNotExists(
        tx('jobs')
          .whereRaw('jobs.subject_id = cohorts.id')
          .where({ kind: 'count_cohort' })
          .whereIn('state', ['waiting', 'running']),
      )
      .orderByRaw('coalesce(last_calculation, created_at)')
      .limit(RECOUNTS_AT_ONCE)
      .select('id', 'project_id');
    for (const { id, project_id: projectId } of due) await requestCount(tx, projectId, [id]);
  });
}
