import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrationSource } from '../../../migrations/index.ts';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createDb } from './db.ts';
import { migrateToLatest } from './migrate.ts';

describe('migrateToLatest', () => {
  let database: DisposableDatabase;
  let names: string[];

  beforeAll(async () => {
    database = await createDisposableDatabase();
    names = (await migrationSource.getMigrations([])).map(({ name }) => name);
  });

  afterAll(() => database.destroy());

  async function emptyDatabase(): Promise<void> {
    await database.db.raw('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  }

  it('does nothing on a database that is up to date', async () => {
    expect(await migrateToLatest(database.db)).toEqual([]);
  });

  it('applies every migration in order and names each', async () => {
    await emptyDatabase();
    const messages: string[] = [];
    expect(await migrateToLatest(database.db, (message) => messages.push(message))).toEqual(names);
    expect(messages).toEqual(names.map((name) => `Applying migration ${name}`));
  });

  it('lets one of two processes migrate while the other waits', async () => {
    await emptyDatabase();
    const other = createDb(database.connection);
    try {
      const results = await Promise.all([migrateToLatest(database.db), migrateToLatest(other)]);
      expect(results.flat()).toEqual(names);
      expect(results).toContainEqual([]);
    } finally {
      await other.destroy();
    }
  });

  it("passes Knex's own lock when a killed process left it behind", async () => {
    await emptyDatabase();
    await database.db.migrate.currentVersion({ migrationSource });
    await database.db.raw('UPDATE knex_migrations_lock SET is_locked = 1');
    expect(await migrateToLatest(database.db)).toEqual(names);
  });

  it('leaves the migrations of a newer release alone', async () => {
    await database.db('knex_migrations').insert({ name: '9999-newer', batch: 99 });
    expect(await migrateToLatest(database.db)).toEqual([]);
  });
});
