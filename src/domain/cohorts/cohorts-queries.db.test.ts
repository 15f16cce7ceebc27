import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { addJob } from '../jobs/jobs-writes.ts';
import { getCohort, listCohorts } from './cohorts-queries.ts';
import { noteSuccess } from './cohorts-writes.ts';

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  const row = { name: 'p', api_token: 'phc_cohorts_queries' };
  const [project] = await database.db('projects').insert(row).returning('id');
  projectId = project?.id ?? 0;
});
afterAll(() => database.destroy());

async function createBusyCohort(): Promise<number> {
  const [row] = await database
    .db('cohorts')
    .insert({ project_id: projectId, name: 'c', is_static: true, groups: '[]', count: 0 })
    .returning('id');
  const id = row?.id ?? 0;
  await database.db.transaction((tx) =>
    addJob(tx, { projectId, kind: 'fill_cohort_from_flag', subjectId: id, payload: {} }),
  );
  return id;
}

async function expectSomebodyWaits(): Promise<void> {
  await vi.waitFor(async () => {
    const waiting = await database
      .db('pg_locks')
      .whereRaw("NOT granted AND relation = 'jobs'::regclass");
    expect(waiting).toHaveLength(1);
  });
}

describe('a cohort whose job ends while it is read', () => {
  const reads = {
    getCohort: async (id: number) => getCohort(database.db, projectId, id),
    listCohorts: async (id: number) => {
      const page = await listCohorts(database.db, projectId, { limit: 100, offset: 0 });
      return page.cohorts.find(({ cohort }) => cohort.id === id);
    },
  };

  it.each(Object.entries(reads))('is told as of one moment by %s', async (_name, read) => {
    const id = await createBusyCohort();
    expect(await read(id)).toMatchObject({ isCalculating: true });
    const reading = await database.db.transaction(async (tx) => {
      await tx.raw('LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE');
      const pending = read(id);
      await expectSomebodyWaits();
      await noteSuccess(tx, id);
      await tx('jobs').where({ subject_id: id }).update({ state: 'done' });
      return { pending };
    });
    expect(await reading.pending).toMatchObject({
      isCalculating: false,
      cohort: { lastCalculation: expect.any(Date) },
    });
  });
});
