import { join } from 'node:path';
import { type ConnectionParts, createDb } from '../src/domain/database/db.ts';
import { migrateToLatest } from '../src/domain/database/migrate.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../src/embedded-postgres/embedded-postgres.ts';
import { quietLog } from './postgres-log.ts';
import { createTemporaryFolder } from './temporary-folder.ts';

/** A PostgreSQL server of its own, for tests that take the database away. */
export interface DisposablePostgres {
  /** A migrated, empty database. It stays the same over stops and starts. */
  readonly connection: ConnectionParts;
  /** Stops the server and keeps the data; does nothing when it is stopped. */
  stop(): Promise<void>;
  /** Starts the server again at the same place; does nothing when it runs. */
  start(): Promise<void>;
  /** Stops the server and removes everything. */
  destroy(): Promise<void>;
}

/** Tests lose nothing that matters in a power cut, and many of them use the run's server at once. */
const FAST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

/** Starts a server in a temporary folder and migrates its database. */
export async function startDisposablePostgres(): Promise<DisposablePostgres> {
  const folder = createTemporaryFolder();
  const launch = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({
      dataDir: join(folder.path, 'data'),
      log: quietLog,
      mode: 'serve',
      settings: FAST_SETTINGS,
    });
  let running: EmbeddedPostgres | undefined;
  const stop = async (): Promise<void> => {
    await running?.stop();
    running = undefined;
  };
  const destroy = async (): Promise<void> => {
    await stop();
    folder.remove();
  };
  try {
    const first = await launch();
    running = first;
    await migrate(first.connection);
    return {
      connection: first.connection,
      stop,
      start: async () => {
        running ??= await launch();
      },
      destroy,
    };
  } catch (error) {
    await destroy();
    throw error;
  }
}

async function migrate(connection: ConnectionParts): Promise<void> {
  const db = createDb(connection);
  try {
    await migrateToLatest(db);
  } finally {
    await db.destroy();
  }
}
