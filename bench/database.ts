import { join } from 'node:path';
import { createDb, type Db } from '../src/domain/database/db.ts';
import { startEmbeddedPostgres } from '../src/embedded-postgres/embedded-postgres.ts';
import { createTemporaryFolder } from '../test/temporary-folder.ts';

/** A PostgreSQL server beside the benchmark, on the benchmark's core. */
export interface BenchServer {
  /** An empty database of its own for one measurement. */
  createDatabase(): Promise<BenchDatabase>;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  readonly url: string;
  readonly db: Db;
  close(): Promise<void>;
}

const quiet = { info() {}, warn: console.warn, error: console.error };

/** Starts the server; it inherits the cores that this process is bound to. */
export async function startBenchServer(): Promise<BenchServer> {
  const folder = createTemporaryFolder();
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder.path, 'data'),
    log: quiet,
    mode: 'serve',
  });
  const { host, port, user, password } = postgres.connection;
  const maintenance = createDb(postgres.connection, 1);
  let databases = 0;
  return {
    async createDatabase() {
      databases += 1;
      const database = `bench_${databases}`;
      await maintenance.raw('CREATE DATABASE ??', [database]);
      const db = createDb({ ...postgres.connection, database }, 1);
      const [name, secret, where] = [user, password, host].map(encodeURIComponent);
      return {
        url: `postgres://${name}:${secret}@localhost:${port}/${database}?host=${where}`,
        db,
        close: () => db.destroy(),
      };
    },
    async stop() {
      await maintenance.destroy();
      await postgres.stop();
      folder.remove();
    },
  };
}

/** Adds flags with one text condition and a 50 % rollout each to project 1; the service is not told. */
export async function insertFlags({ db }: BenchDatabase, count: number): Promise<void> {
  const filters = {
    groups: [
      {
        properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }],
        rollout_percentage: 50,
      },
    ],
  };
  await db.raw(
    `INSERT INTO feature_flags (project_id, key, filters)
     SELECT 1, 'bench-flag-' || n, ?::jsonb FROM generate_series(1, ?) AS n`,
    [JSON.stringify(filters), count],
  );
}
