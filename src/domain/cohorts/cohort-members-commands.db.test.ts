import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { addCohortMembersInParts } from './cohort-members-commands.ts';

const PERSONS = 12_000;
/** A second distinct id of the first person, behind those of all persons. */
const SECOND_ID = 'user-1 on the phone';

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  const [project] = await database
    .db('projects')
    .insert({ name: 'p', api_token: 't' })
    .returning('id');
  projectId = project?.id ?? 0;
  await database.db.raw(
    `INSERT INTO persons (project_id, properties, is_identified)
     SELECT ?, '{}', true FROM generate_series(1, ?::int)`,
    [projectId, PERSONS],
  );
  await database.db.raw(
    `INSERT INTO person_distinct_ids (project_id, distinct_id, person_id)
     SELECT project_id, 'user-' || id, id FROM persons
     UNION ALL SELECT ?, ?, min(id) FROM persons`,
    [projectId, SECOND_ID],
  );
});
afterAll(() => database.destroy());

async function createCohort(): Promise<number> {
  const [row] = await database
    .db('cohorts')
    .insert({ project_id: projectId, name: 'c', is_static: true, count: 0 })
    .returning('id');
  return row?.id ?? 0;
}

async function countMembers(cohortId: number) {
  const [stored] = await database.db('cohort_members').where({ cohort_id: cohortId }).count();
  const cohort = await database.db('cohorts').where({ id: cohortId }).first();
  return { stored: stored?.count, count: cohort?.count };
}

const context = () => ({ db: database.db, onJobsAdded: () => {} });
const everybody = Array.from({ length: PERSONS }, (_, index) => `user-${index + 1}`);

describe('a list that is added in parts', () => {
  it('counts everybody once, whatever part they are named in', async () => {
    const id = await createCohort();
    const distinctIds = ['nobody', ...everybody, SECOND_ID, 'nobody'];
    const added = await addCohortMembersInParts(
      context(),
      { projectId, id },
      { uuids: [], distinctIds },
    );
    expect(added).toEqual({ added: PERSONS, alreadyMembers: 0, unknownIds: ['nobody'] });
    expect(await countMembers(id)).toEqual({ stored: PERSONS, count: PERSONS });

    const references = { uuids: [], distinctIds: everybody };
    const again = await addCohortMembersInParts(context(), { projectId, id }, references);
    expect(again).toEqual({ added: 0, alreadyMembers: PERSONS, unknownIds: [] });
  });

  it('says how far it got when it cannot go on, and keeps what is done', async () => {
    const id = await createCohort();
    // Somebody deletes the cohort once the first part is in it.
    await database.db.raw(`
      CREATE FUNCTION delete_cohort() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE cohorts SET deleted = true WHERE id = NEW.cohort_id;
        RETURN NULL;
      END $$;
      CREATE TRIGGER delete_cohort AFTER INSERT ON cohort_members
        FOR EACH ROW WHEN (NEW.person_id = 1) EXECUTE FUNCTION delete_cohort();
    `);
    const references = { uuids: [], distinctIds: everybody };
    const refused = addCohortMembersInParts(context(), { projectId, id }, references);
    await expect(refused).rejects.toMatchObject({
      kind: 'invalid',
      detail:
        'The first 5000 ids are done, the others are not. ' +
        'This cohort has been deleted. Restore it before changing its members.',
    });
    expect(await countMembers(id)).toEqual({ stored: 5_000, count: 5_000 });
    await database.db.raw('DROP TRIGGER delete_cohort ON cohort_members');
  });

  it('says so as well when the database ends the work', async () => {
    const id = await createCohort();
    await database.db.raw(`
      CREATE FUNCTION end_statement() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'ended' USING ERRCODE = 'deadlock_detected';
      END $$;
      CREATE TRIGGER end_statement BEFORE INSERT ON cohort_members
        FOR EACH ROW WHEN (NEW.person_id = 7000) EXECUTE FUNCTION end_statement();
    `);
    const references = { uuids: [], distinctIds: everybody };
    await expect(
      addCohortMembersInParts(context(), { projectId, id }, references),
    ).rejects.toMatchObject({
      kind: 'unavailable',
      detail: 'The first 5000 ids are done, the others are not. Please send the file again.',
    });
    expect(await countMembers(id)).toEqual({ stored: 5_000, count: 5_000 });
    await database.db.raw('DROP TRIGGER end_statement ON cohort_members');
  });
});
