import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDb, type Db } from '../src/domain/database/db.ts';
import { startEmbeddedPostgres } from '../src/embedded-postgres/embedded-postgres.ts';
import { createTemporaryFolder } from '../test/temporary-folder.ts';

/** A PostgreSQL server beside the benchmark, on the benchmark's core. */
export interface BenchServer {
  /** An empty database of its own for one measurement. */
  createDatabase(): Promise<BenchDatabase>;
  /** A database with the same content as one that nobody uses any more. */
  copyDatabase(original: BenchDatabase): Promise<BenchDatabase>;
  /** PostgreSQL's first process, which all others are children of. */
  readonly pid: number;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  readonly name: string;
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
  const create = async (template: string): Promise<BenchDatabase> => {
    databases += 1;
    const name = `bench_${databases}`;
    await maintenance.raw('CREATE DATABASE ?? TEMPLATE ??', [name, template]);
    const db = createDb({ ...postgres.connection, database: name }, 1);
    const [account, secret, where] = [user, password, host].map(encodeURIComponent);
    return {
      name,
      url: `postgres://${account}:${secret}@localhost:${port}/${name}?host=${where}`,
      db,
      close: () => db.destroy(),
    };
  };
  return {
    pid: Number(readFileSync(join(postgres.dataFolder, 'postmaster.pid'), 'utf8').split('\n')[0]),
    createDatabase: () => create('template1'),
    copyDatabase: (original) => create(original.name),
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
