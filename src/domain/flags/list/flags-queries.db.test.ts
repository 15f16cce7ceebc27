import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { createProject, createUser } from '../../projects/projects-commands.ts';
import { NEWEST_FIRST } from './flag-order.ts';
import { countFlags, getFlag, listAllFlags, listFlags } from './flags-queries.ts';

let database: DisposableDatabase;
let projectId = 0;
let otherProjectId = 0;
let userId = 0;
let deletedId = 0;

/** Flags `f1` to `f5`, one day apart, the last two at the same moment; `gone` is deleted. */
beforeAll(async () => {
  database = await createDisposableDatabase();
  const { db } = database;
  await db.transaction(async (tx) => {
    projectId = (await createProject(tx, { name: 'p' })).project.id;
    otherProjectId = (await createProject(tx, { name: 'q' })).project.id;
    userId = (await createUser(tx, { email: 'ann@example.com' })).id;
    const days = [1, 2, 3, 4, 4];
    for (const [index, day] of days.entries()) {
      await tx('feature_flags').insert({
        project_id: projectId,
        key: `f${index + 1}`,
        created_by: userId,
        created_at: new Date(Date.UTC(2026, 0, day)),
      });
    }
    await tx('feature_flags').insert({ project_id: otherProjectId, key: 'theirs' });
    const [gone] = await tx('feature_flags')
      .insert({ project_id: projectId, key: 'gone', deleted: true })
      .returning('id');
    deletedId = gone?.id ?? 0;
  });
});
afterAll(() => database.destroy());

/** Every flag, newest first. */
const ALL = { filters: {}, order: NEWEST_FIRST, now: new Date() };

describe('listFlags', () => {
  const keysOf = async (limit: number, offset: number) => {
    const page = await listFlags(database.db, projectId, { ...ALL, limit, offset });
    return { count: page.count, keys: page.flags.map(({ flag }) => flag.key) };
  };

  it.each([
    [100, 0, ['f5', 'f4', 'f3', 'f2', 'f1']],
    [2, 0, ['f5', 'f4']],
    [2, 4, ['f1']],
    [2, 5, []],
    [2, 500, []],
  ])('has with limit %d and offset %d the flags %j', async (limit, offset, keys) => {
    expect(await keysOf(limit, offset)).toEqual({ count: 5, keys });
  });

  it('counts nothing in a project without flags', async () => {
    const page = await listFlags(database.db, 999_999, { ...ALL, limit: 10, offset: 0 });
    expect(page).toEqual({ count: 0, flags: [] });
  });

  it('names the users', async () => {
    const { flags } = await listFlags(database.db, projectId, { ...ALL, limit: 1, offset: 0 });
    expect(flags[0]).toMatchObject({
      createdBy: { id: userId, email: 'ann@example.com' },
      lastModifiedBy: null,
    });
  });
});

describe('getFlag', () => {
  it('finds a deleted flag too', async () => {
    const found = await getFlag(database.db, projectId, deletedId);
    expect(found?.flag).toMatchObject({ key: 'gone', deleted: true });
  });

  it('finds no flag of another project', async () => {
    expect(await getFlag(database.db, otherProjectId, deletedId)).toBeUndefined();
  });
});

describe('listAllFlags', () => {
  it('has every flag that is not deleted, by key in the order of bytes', async () => {
    await database
      .db('feature_flags')
      .insert(['b', 'B', 'a_', 'a-'].map((key) => ({ project_id: otherProjectId, key })));
    const keys = (await listAllFlags(database.db, otherProjectId)).map(({ key }) => key);
    expect(keys).toEqual(['B', 'a-', 'a_', 'b', 'theirs']);
  });
});

describe('countFlags', () => {
  it('counts what is not deleted', async () => {
    expect(await countFlags(database.db, projectId)).toBe(5);
  });
});
