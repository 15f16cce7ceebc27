import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import type { JsonObject } from '../../common/json.ts';
import { type ClaimedJob, LeaseLost } from '../../jobs/job.ts';
import { createProject } from '../../projects/projects-commands.ts';
import { raiseProjectRevision } from '../../projects/projects-writes.ts';
import { loadProject } from '../../snapshots/load-definitions.ts';
import { compilePattern } from '../../targeting/patterns.ts';
import { createFillCohortJob } from './fill-cohort-job.ts';

/** Persons who use the `pro` plan have odd numbers, those of `free` even ones. */
const PERSONS = 6;

let database: DisposableDatabase;
let projectId = 0;
let flagId = 0;
let cohortId = 0;
let progress: JsonObject = {};

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());

beforeEach(async () => {
  const { db } = database;
  const created = await db.transaction((tx) => createProject(tx, { name: 'p' }));
  projectId = created.project.id;
  progress = {};
  await db.raw(
    `INSERT INTO persons (project_id, uuid, properties)
     SELECT ?, ('00000000-0000-4000-8000-' || lpad((? * 1000 + n)::text, 12, '0'))::uuid,
            jsonb_build_object('n', n, 'plan', CASE n % 2 WHEN 1 THEN 'pro' ELSE 'free' END,
                               'seen', '2026-01-0' || n)
     FROM generate_series(1, ?::int) AS n`,
    [projectId, projectId, PERSONS],
  );
  const [cohort] = await db('cohorts')
    .insert({ project_id: projectId, name: 'filled', is_static: true, count: 0 })
    .returning('id');
  cohortId = cohort?.id ?? 0;
  const [flag] = await db('feature_flags')
    .insert({ project_id: projectId, key: 'flag', filters: filtersOn('plan', 'exact', 'pro') })
    .returning('id');
  flagId = flag?.id ?? 0;
});

function filtersOn(key: string, operator: string, value: string): string {
  return JSON.stringify({ groups: [{ properties: [{ key, type: 'person', operator, value }] }] });
}

/** Changes the flag as a command does: the revision of the project rises with it. */
async function changeFlag(change: { filters?: string; active?: boolean }): Promise<void> {
  await database.db.transaction(async (tx) => {
    await tx('feature_flags').where({ id: flagId }).update(change);
    await raiseProjectRevision(tx, projectId);
  });
}

/** Runs the job in batches of two; with `crashAfter` the process dies after so many of them. */
async function run({ at = '2026-01-10', crashAfter = Number.POSITIVE_INFINITY } = {}) {
  const { db } = database;
  let saves = 0;
  const job: ClaimedJob = {
    id: 1,
    projectId,
    subjectId: cohortId,
    payload: { flag_id: flagId },
    progress,
    signal: new AbortController().signal,
    save: async (next, work) => {
      saves += 1;
      if (saves > crashAfter) throw new LeaseLost('The process died.');
      const result = await db.transaction(work);
      progress = next;
      return result;
    },
  };
  const handler = createFillCohortJob({
    db,
    compilePattern,
    now: () => new Date(at),
    batchSize: 2,
    getSnapshot: async (id) =>
      (await loadProject(db, id, compilePattern, () => new Date()))?.snapshot,
  });
  const dies = crashAfter !== Number.POSITIVE_INFINITY;
  if (dies) await expect(handler.run(job)).rejects.toBeInstanceOf(LeaseLost);
  else await handler.run(job);
}

/** The numbers of the persons in the cohort, and the count that it shows. */
async function members() {
  const { rows } = await database.db.raw<{ rows: { n: number }[] }>(
    `SELECT (p.properties ->> 'n')::int AS n FROM cohort_members m
     JOIN persons p ON p.id = m.person_id WHERE m.cohort_id = ? ORDER BY n`,
    [cohortId],
  );
  const cohort = await database.db('cohorts').where({ id: cohortId }).first('count');
  return { numbers: rows.map(({ n }) => n), count: cohort?.count };
}

it('goes on from where it stopped when nothing was changed', async () => {
  await run({ crashAfter: 2 });
  expect(await members()).toEqual({ numbers: [1, 3], count: 2 });
  // Whoever was decided before is not looked at again.
  await database.db.raw(`UPDATE persons SET properties = properties || '{"plan": "pro"}'`);
  await run();
  expect(await members()).toEqual({ numbers: [1, 3, 5, 6], count: 4 });
});

it('begins again when the flag was changed between a crash and the restart', async () => {
  await run({ crashAfter: 2 });
  await changeFlag({ filters: filtersOn('plan', 'exact', 'free') });
  await run();
  expect(await members()).toEqual({ numbers: [2, 4, 6], count: 3 });
});

it('begins again each time, also when it crashes while it begins again', async () => {
  await run({ crashAfter: 2 });
  await changeFlag({ filters: filtersOn('plan', 'exact', 'free') });
  await run({ crashAfter: 2 });
  expect(await members()).toEqual({ numbers: [2], count: 1 });
  await changeFlag({ filters: filtersOn('plan', 'exact', 'pro') });
  await run();
  expect(await members()).toEqual({ numbers: [1, 3, 5], count: 3 });
});

it('leaves nobody in the cohort when the flag was switched off in the meantime', async () => {
  await run({ crashAfter: 2 });
  await changeFlag({ active: false });
  await run();
  expect(await members()).toEqual({ numbers: [], count: 0 });
});

it('leaves a complete cohort alone when it crashes before the job is ended', async () => {
  await run();
  const { db } = database;
  const before = await db('cohorts').where({ id: cohortId }).first();
  await changeFlag({ filters: filtersOn('plan', 'exact', 'free') });
  await run();
  expect(await members()).toEqual({ numbers: [1, 3, 5], count: 3 });
  await db('feature_flags').where({ id: flagId }).delete();
  await run();
  expect(await db('cohorts').where({ id: cohortId }).first()).toEqual(before);
});

it('counts relative dates from the moment at which it began', async () => {
  await changeFlag({ filters: filtersOn('seen', 'is_date_after', '-7d') });
  await run({ at: '2026-01-08T12:00:00Z', crashAfter: 1 });
  await run({ at: '2026-01-12T12:00:00Z' });
  expect((await members()).numbers).toEqual([2, 3, 4, 5, 6]);
});
