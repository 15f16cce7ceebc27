import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createProject } from '../projects/projects-commands.ts';
import { type ClaimedJob, checkNotStopped, type JobHandler, PermanentJobError } from './job.ts';
import { createJobWorker, type JobTiming, type JobWorker } from './job-worker.ts';
import { claimJob } from './jobs-storage.ts';
import { addJob, addJobOnce, type NewJob } from './jobs-writes.ts';

let database: DisposableDatabase;
let projectId = 0;
let subjects = 0;
const workers: JobWorker[] = [];
const log = { warn() {}, error() {} };

beforeAll(async () => {
  database = await createDisposableDatabase();
  projectId = (await database.db.transaction((tx) => createProject(tx, { name: 'p' }))).project.id;
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
  await database.db('jobs').delete();
});
afterAll(() => database.destroy());

function work(
  run: (job: ClaimedJob) => Promise<void>,
  timing: Partial<JobTiming> = {},
  failures: string[] = [],
): JobWorker {
  const handler: JobHandler = {
    run,
    fail: async (_tx, _job, reason) => {
      failures.push(reason);
    },
  };
  const worker = createJobWorker({
    db: database.db,
    log,
    handlers: { count_cohort: handler, fill_cohort_from_flag: handler },
    timing: { retryAfterMs: 1, ...timing },
  });
  workers.push(worker);
  worker.start();
  return worker;
}

const job = (): NewJob => {
  subjects += 1;
  return { projectId, kind: 'count_cohort', subjectId: subjects, payload: {} };
};
const add = (new_: NewJob) => database.db.transaction((tx) => addJob(tx, new_));
const rows = () =>
  database.db('jobs').orderBy('id').select('state', 'error', 'progress', 'attempts');
const until = (state: string) =>
  vi.waitFor(async () => expect(await rows()).toMatchObject([{ state }]), { timeout: 10_000 });

describe('the worker of background jobs', () => {
  it('runs what is added while it rests, once it is woken', async () => {
    const seen: number[] = [];
    const worker = work(async ({ subjectId }) => {
      seen.push(subjectId);
    });
    const added = job();
    await add(added);
    worker.wake();
    await until('done');
    expect(seen).toEqual([added.subjectId]);
  });

  it('tries again what failed, from where it was saved', async () => {
    await add(job());
    const starts: unknown[] = [];
    work(async (claimed) => {
      starts.push(claimed.progress);
      if (starts.length > 1) return;
      await claimed.save({ after: 5 }, async () => {});
      throw new Error('once');
    });
    await until('done');
    expect(starts).toEqual([{}, { after: 5 }]);
  });

  it('saves a batch and how far it got together, or neither', async () => {
    await add(job());
    const failures: string[] = [];
    work(
      (claimed) =>
        claimed.save({ after: 1 }, async () => {
          throw new PermanentJobError('Not like this.');
        }),
      {},
      failures,
    );
    await until('failed');
    expect(await rows()).toMatchObject([{ progress: {}, error: 'Not like this.', attempts: 1 }]);
    expect(failures).toEqual(['Not like this.']);
  });

  it('gives up what fails again and again, and tells people nothing of the cause', async () => {
    await add(job());
    const failures: string[] = [];
    work(() => Promise.reject(new Error('secret')), {}, failures);
    await until('failed');
    expect(await rows()).toMatchObject([{ attempts: 5 }]);
    expect(failures).toEqual([expect.not.stringContaining('secret')]);
  });

  it('counts failures anew from a batch that was saved', async () => {
    await add(job());
    let runs = 0;
    work(async (claimed) => {
      runs += 1;
      if (runs === 5) await claimed.save({ after: 5 }, async () => {});
      throw new Error('again');
    });
    await until('failed');
    // The fifth run saved a batch, so its failure is the first of another five.
    expect(await rows()).toMatchObject([{ progress: { after: 5 }, attempts: 9 }]);
  });

  it('takes over what a dead process left, and that process can save nothing any more', async () => {
    await add(job());
    const dead = await claimJob(database.db, ['count_cohort'], 1);
    expect(dead?.attempts).toBe(1);
    work(async () => {});
    await until('done');
    expect(await rows()).toMatchObject([{ attempts: 2 }]);
  });

  it('leaves a job to its process as long as that lives, however long it takes', async () => {
    await add(job());
    let runs = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const run = async () => {
      runs += 1;
      await released;
    };
    work(run, { leaseMs: 300, pollEveryMs: 20 });
    await vi.waitFor(() => expect(runs).toBe(1));
    const [first] = await database.db('jobs').select('locked_until');
    work(run, { leaseMs: 300, pollEveryMs: 20 });
    await vi.waitFor(
      async () => {
        const [now] = await database.db('jobs').select('locked_until');
        expect(Number(now?.locked_until) - Number(first?.locked_until)).toBeGreaterThan(900);
      },
      { timeout: 10_000 },
    );
    expect(runs).toBe(1);
    release();
    await until('done');
  });

  it('lets go of a job when it stops, for others to go on with at once', async () => {
    await add(job());
    let isRunning = false;
    const worker = work(async (claimed) => {
      isRunning = true;
      for (let after = 1; ; after += 1) {
        checkNotStopped(claimed);
        await claimed.save({ after }, async () => {});
      }
    });
    await vi.waitFor(() => expect(isRunning).toBe(true));
    await worker.stop();
    expect(await rows()).toMatchObject([{ state: 'waiting', attempts: 1 }]);
    expect(await claimJob(database.db, ['count_cohort'], 1_000)).toBeDefined();
  });

  it('is not given twice what has not begun', async () => {
    const same = job();
    for (let times = 0; times < 3; times += 1) {
      await database.db.transaction((tx) => addJobOnce(tx, same));
    }
    expect(await rows()).toHaveLength(1);
    await claimJob(database.db, ['count_cohort'], 60_000);
    await database.db.transaction((tx) => addJobOnce(tx, same));
    expect(await rows()).toHaveLength(2);
  });
});
