import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDb } from '../src/domain/database/db.ts';
import { createDisposableDatabase } from './disposable-database.ts';
import { type DisposablePostgres, startDisposablePostgres } from './disposable-postgres.ts';

describe('a disposable PostgreSQL', () => {
  let server: DisposablePostgres;

  beforeAll(async () => {
    server = await startDisposablePostgres();
  });

  afterAll(() => server.destroy());

  it('goes away and comes back at the same place, with its data', async () => {
    const db = createDb(server.connection);
    await db('projects').insert({ name: 'kept', api_token: 'phc_kept' });
    await server.stop();
    await expect(db('projects').select()).rejects.toThrow();
    await server.start();
    expect(await db('projects').select('name')).toEqual([{ name: 'kept' }]);
    await db.destroy();
  });
});

describe('disposable databases', () => {
  it('are migrated, empty and apart from each other', async () => {
    const all = await Promise.all([createDisposableDatabase(), createDisposableDatabase()]);
    const [one, other] = all;
    await one.db('projects').insert({ name: 'mine', api_token: 'phc_mine' });
    expect(await other.db('projects').select()).toEqual([]);
    await Promise.all(all.map((database) => database.destroy()));
  });
});
