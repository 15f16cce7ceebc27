import { setTimeout as delay } from 'node:timers/promises';
import { migrationSource } from '../../../migrations/index.ts';
import type { Db, Tx } from './db.ts';
import { LIMITS } from './deadlines.ts';
import { transaction } from './transaction.ts';

/** Any fixed number will do, as long as every Burgee asks for the same one. */
const MIGRATION_LOCK = 4_173_620_911;

const LOCK_POLL_MS = 100;

/**
 * Applies every migration that the database lacks and returns their names, oldest first.
 *
 * Safe when several processes start at once: one migrates, the others wait for it and then find
 * nothing to do. `onProgress` gets one sentence per step that takes time. The pool must allow two
 * connections: one holds the lock while the other migrates. Migrations of a newer release that the
 * database already has are left alone, so that an older instance starts during a rolling update.
 */
export async function migrateToLatest(
  db: Db,
  onProgress: (message: string) => void = () => {},
): Promise<string[]> {
  if (await hasEvery(db)) return [];
  return transaction(db, LIMITS.migration, async (lockTx) => {
    await waitForMigrationLock(lockTx, onProgress);
    return applyMissing(db, onProgress);
  });
}

/** Whether nothing is left to migrate, as at most starts; a migration is recorded when it is done. */
async function hasEvery(db: Db): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { found: string | null }[] }>(
    "SELECT to_regclass('knex_migrations') AS found",
  );
  if (typeof rows[0]?.found !== 'string') return false;
  const done = new Set(await db('knex_migrations').pluck('name'));
  const migrations = await migrationSource.getMigrations([]);
  return migrations.every(({ name }) => done.has(name));
}

/** Polls, because a waiting statement's snapshot would block CREATE INDEX CONCURRENTLY. */
async function waitForMigrationLock(
  lockTx: Tx,
  onProgress: (message: string) => void,
): Promise<void> {
  for (let isFirstTry = true; ; isFirstTry = false) {
    const result = await lockTx.raw<{ rows: { locked: boolean }[] }>(
      'SELECT pg_try_advisory_xact_lock(?) AS locked',
      [MIGRATION_LOCK],
    );
    if (result.rows[0]?.locked === true) return;
    if (isFirstTry) onProgress('Waiting for another Burgee that is migrating this database');
    await delay(LOCK_POLL_MS);
  }
}

async function applyMissing(db: Db, onProgress: (message: string) => void): Promise<string[]> {
  const names: string[] = [];
  const config = {
    migrationSource,
    disableMigrationsListValidation: true,
    beforeEach: async (_connection: unknown, migrations: unknown[]) => {
      for (const migration of migrations) {
        const name = migrationName(migration);
        names.push(name);
        onProgress(`Applying migration ${name}`);
      }
    },
  };
  // Knex keeps a lock row of its own that outlives a killed process. The advisory lock, which dies
  // with its connection, decides; so a row left behind is freed.
  await db.migrate.forceFreeMigrationsLock(config);
  await db.migrate.latest(config);
  return names;
}

function migrationName(migration: unknown): string {
  return typeof migration === 'object' &&
    migration !== null &&
    'name' in migration &&
    typeof migration.name === 'string'
    ? migration.name
    : 'without a name';
}
