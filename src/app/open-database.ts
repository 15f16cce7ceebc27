import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseOutage } from '../domain/database/database-error.ts';
import { createDb, type DatabaseConnection, type Db } from '../domain/database/db.ts';
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import type { LaunchLog, LaunchMode } from '../embedded-postgres/install/options.ts';
import type { Config } from './config.ts';

export interface OpenDatabase {
  readonly db: Db;
  readonly connection: DatabaseConnection;
  /** Closes the pool and, if this process started it, the embedded server. */
  close(): Promise<void>;
}

/** How long to wait for a server of the operator's own that does not answer yet. */
const WAIT_FOR_SERVER_MS = 30_000;
const WAIT_BETWEEN_TRIES_MS = 500;

/** Opens the database that the configuration names: a server of the operator's, or the embedded one. */
export async function openDatabase(
  config: Config,
  mode: LaunchMode,
  log: LaunchLog,
  signal?: AbortSignal,
): Promise<OpenDatabase> {
  if (config.databaseUrl !== null) {
    const db = createDb(config.databaseUrl);
    try {
      await waitForServer(db, log, signal);
    } catch (error) {
      await db.destroy();
      throw error;
    }
    return { db, connection: config.databaseUrl, close: () => db.destroy() };
  }
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, mode, log });
  const db = createDb(embedded.connection);
  return {
    db,
    connection: embedded.connection,
    async close() {
      await db.destroy();
      await embedded.stop();
    },
  };
}

/** A server that is started beside Burgee may take a moment; a wrong password will not get right. */
async function waitForServer(db: Db, log: LaunchLog, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + WAIT_FOR_SERVER_MS;
  for (let isFirstTry = true; ; isFirstTry = false) {
    try {
      await db.raw('SELECT 1');
      return;
    } catch (error) {
      const isOver = Date.now() > deadline || signal?.aborted === true;
      if (!isDatabaseOutage(error) || isOver) throw error;
      if (isFirstTry) log.warn('The database at DATABASE_URL does not answer yet; waiting for it.');
    }
    await delay(WAIT_BETWEEN_TRIES_MS, undefined, signal === undefined ? {} : { signal });
  }
}
