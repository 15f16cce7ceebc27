import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { type ClaimedJob, JobInterrupted, PermanentJobError } from '../../jobs/job.ts';
import { claimJob } from '../../jobs/jobs-storage.ts';
import { createProject } from '../../projects/projects-commands.ts';
import { loadProject } from '../../snapshots/load-definitions.ts';
import { compilePattern } from '../../targeting/patterns.ts';
import { createCountCohortJob, requestDueCounts } from './count-cohort-job.ts';

let database: DisposableDatabase;
let projectId = 0;
let cohortId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());

beforeEach(async () => {
  const { db } = database;
  await db('jobs').delete();
  await db('cohorts').update({ deleted: true });
  projectId = (await db.transaction((tx) => createProject(tx, { name: 'p' }))).project.id;
  const values = [{ type: 'person', key: 'plan', operator: 'is_set' }];
  const [cohort] = await db('cohorts')
    .insert({
      project_id: projectId,
      name: 'with a plan',
      filters: JSON.stringify({ properties: { type: 'AND', values } }),
      created_at: db.raw("now() - interval '2 days'"),
    })
    .returning('id');
  cohortId = cohort?.id ?? 0;
});

function run(timeoutMs: number, signal = new AbortController().signal): Promise<void> {
  const { db } = database;
  const job: ClaimedJob = {
    id: 1,
    projectId,
    subjectId: cohortId,
    payload: {},
    progress: {},
    signal,
    save: (_progress, work) => db.transaction(work),
  };
  const countCohort = createCountCohortJob({
    db,
    compilePattern,
    now: () => new Date(),
    getSnapshot: async (id) =>
      (await loadProject(db, id, compilePattern, () => new Date()))?.snapshot,
    timeoutMs,
  });
  return countCohort.run(job);
}

/** Nobody can read persons meanwhile. */
async function whilePersonsAreLocked(act: () => Promise<void>): Promise<void> {
  await database.db.transaction(async (tx) => {
    await tx.raw('LOCK TABLE persons IN ACCESS EXCLUSIVE MODE');
    await act();
  });
}

describe('the job that counts a cohort', () => {
  it('fails for good when counting takes too long, since it would the next time as well', async () => {
    await whilePersonsAreLocked(() =>
      expect(run(50)).rejects.toStrictEqual(
        new PermanentJobError('Counting this cohort takes too long.'),
      ),
    );
    await run(15_000);
    const [cohort] = await database.db('cohorts').where({ id: cohortId }).select('count');
    expect(cohort).toEqual({ count: 0 });
  });

  it('is interrupted, and not failed for good, when the service stops during a count', async () => {
    await whilePersonsAreLocked(() =>
      expect(run(60_000, AbortSignal.timeout(200))).rejects.toBeInstanceOf(JobInterrupted),
    );
  });
});

describe('counts that are due', () => {
  const states = () => database.db('jobs').pluck('state');

  it('are asked for once, also while the job is running', async () => {
    const { db } = database;
    await requestDueCounts({ db });
    expect(await states()).toEqual(['waiting']);
    await requestDueCounts({ db });
    expect(await states()).toEqual(['waiting']);
    await claimJob(db, ['count_cohort'], 60_000);
    await requestDueCounts({ db });
    expect(await states()).toEqual(['running']);
  });
});
