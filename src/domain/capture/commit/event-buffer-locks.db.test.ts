import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { parseCaptureBody } from '../../../../test/parse-capture-body.ts';
import type { JsonObject } from '../../common/json.ts';
import type { Db } from '../../database/db.ts';
import { listGroupTypes } from '../../persons/persons-queries.ts';
import { changeProject } from '../../projects/change-project.ts';
import { raiseProjectRevision } from '../../projects/projects-writes.ts';
import { createEventBuffer } from './event-buffer.ts';

let database: DisposableDatabase;
let projectId = 0;
const lostRaces: string[] = [];

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());

beforeEach(async () => {
  lostRaces.length = 0;
  const row = { name: 'p', api_token: `phc_${Math.random()}` };
  const [project] = await database.db('projects').insert(row).returning('id');
  projectId = project?.id ?? 0;
});

async function capture(...batch: JsonObject[]): Promise<void> {
  const log = (_fields: object, message: string) => void lostRaces.push(message);
  const buffer = createEventBuffer({
    db: database.db,
    flushAfterMs: 0,
    onGroupTypesAdded: async (id, tx) => void (await raiseProjectRevision(tx, id)),
    log: { warn: log, error: log },
  });
  const context = { path: 'event' as const, receivedAt: new Date() };
  await buffer.add(projectId, parseCaptureBody({ api_key: 't', batch }, context).events);
}

/** Resolves when some transaction waits for another one. */
async function untilSomebodyWaits(db: Db): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await db.raw(
        `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
       WHERE NOT l.granted AND a.datname = current_database()`,
      );
      return rows;
    })
    .toHaveLength(1);
}

/** A static cohort that has the persons of both distinct ids. */
async function aCohortOf(...distinctIds: string[]): Promise<number> {
  await capture(...distinctIds.map((id) => ({ event: 'seen', distinct_id: id })));
  const { db } = database;
  const [cohort] = await db('cohorts')
    .insert({
      project_id: projectId,
      name: 'c',
      description: '',
      is_static: true,
      cohort_type: 'static',
      filters: null,
      groups: '[]',
      deleted: false,
      created_by: null,
      count: distinctIds.length,
    })
    .returning('id');
  const cohortId = cohort?.id ?? 0;
  await db.raw(
    'INSERT INTO cohort_members (cohort_id, person_id) SELECT ?, id FROM persons WHERE project_id = ?',
    [cohortId, projectId],
  );
  return cohortId;
}

it('lets a command that holds the project take a cohort whose members are being merged', async () => {
  const cohortId = await aCohortOf('ann', 'ben');
  const changes = { db: database.db, onCommitted: async () => {} };
  let captured: Promise<void> = Promise.resolve();
  await changeProject(changes, projectId, async (tx) => {
    captured = capture(
      { event: '$merge_dangerously', distinct_id: 'ann', properties: { alias: 'ben' } },
      { event: 'seen', distinct_id: 'ann', properties: { $groups: { company: 'acme' } } },
    );
    await untilSomebodyWaits(database.db);
    await tx('cohorts').where({ id: cohortId }).forUpdate();
  });
  await captured;
  expect(lostRaces).toEqual([]);
  const cohort = await database.db('cohorts').where({ id: cohortId }).first();
  expect(cohort).toMatchObject({ count: 1 });
  expect(await listGroupTypes(database.db, projectId)).toHaveLength(1);
});
