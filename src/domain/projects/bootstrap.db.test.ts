import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createDb } from '../database/db.ts';
import { bootstrap } from './bootstrap.ts';
import { IdentityStore } from './identity-store.ts';
import { createProject } from './projects-commands.ts';
import { listProjects, listUsers } from './projects-queries.ts';

let database: DisposableDatabase;

beforeEach(async () => {
  database = await createDisposableDatabase();
});
afterEach(() => database.destroy());

describe('bootstrap', () => {
  it('gives an empty database project 1, a user, and keys that work', async () => {
    const created = await bootstrap(database.db, {});
    expect(created).toEqual({
      project: expect.objectContaining({ id: 1, apiToken: expect.stringMatching(/^phc_/) }),
      personalApiKey: expect.stringMatching(/^phx_/),
      projectSecretKey: expect.stringMatching(/^phs_/),
    });
    const identities = new IdentityStore(database.db, () => new Date());
    expect(await identities.authenticate(created?.personalApiKey ?? '')).toMatchObject({
      kind: 'user',
      scopes: ['*'],
      keyProjectIds: null,
      memberProjectIds: [1],
    });
    expect(await identities.authenticate(created?.projectSecretKey ?? '')).toEqual({
      kind: 'project',
      projectId: 1,
    });
  });

  it('takes the keys that an unattended installation brings', async () => {
    const keys = {
      projectApiKey: 'phc_mine',
      personalApiKey: 'phx_mine_0123456789',
      projectSecretKey: 'phs_mine0123456789ab',
    };
    expect(await bootstrap(database.db, keys)).toMatchObject({
      project: { apiToken: 'phc_mine' },
      personalApiKey: 'phx_mine_0123456789',
      projectSecretKey: 'phs_mine0123456789ab',
    });
  });

  it('stores no secret', async () => {
    const created = await bootstrap(database.db, {});
    const rows = [await database.db('personal_api_keys'), await database.db('projects')];
    const stored = JSON.stringify(rows);
    expect(stored).not.toContain(created?.personalApiKey);
    expect(stored).not.toContain(created?.projectSecretKey);
  });

  it('creates one project when several processes start at once', async () => {
    const pools = Array.from({ length: 4 }, () => createDb(database.connection));
    const results = await Promise.all(pools.map((db) => bootstrap(db, {})));
    expect(results.filter((result) => result !== null)).toHaveLength(1);
    expect(await listProjects(database.db)).toHaveLength(1);
    expect(await listUsers(database.db)).toHaveLength(1);
    await Promise.all(pools.map((db) => db.destroy()));
  });

  it('leaves a database alone that is in use', async () => {
    await database.db.transaction((tx) => createProject(tx, { name: 'mine' }));
    expect(await bootstrap(database.db, {})).toBeNull();
    expect(await listUsers(database.db)).toEqual([]);
  });

  it('leaves the next ids free for the next projects', async () => {
    await bootstrap(database.db, {});
    const { project } = await database.db.transaction((tx) => createProject(tx, { name: 'next' }));
    expect(project.id).toBe(2);
  });
});
