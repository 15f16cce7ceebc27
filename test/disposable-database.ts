import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { type ConnectionParts, createDb, type Db } from '../src/domain/database/db.ts';

/** A migrated, empty database for one test file. */
export interface DisposableDatabase {
  readonly db: Db;
  readonly connection: ConnectionParts;
  /** Closes the pool and drops the database, whoever is still connected. */
  destroy(): Promise<void>;
}

const MAINTENANCE_DATABASE = 'postgres';

/** `CREATE DATABASE` while somebody is connected to the template. */
const TEMPLATE_IN_USE = '55006';

const RETRY_MS = 50;
const RETRY_TIMEOUT_MS = 15_000;

/** Copies the run's template database; call `destroy` when the file's tests are done. */
export async function createDisposableDatabase(): Promise<DisposableDatabase> {
  const template = await askForTemplate();
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await withMaintenance(template, (client) => copyDatabase(client, template.database, database));
  const connection = { ...template, database };
  const db = createDb(connection);
  return {
    db,
    connection,
    async destroy() {
      await db.destroy();
      await withMaintenance(template, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`),
      );
    },
  };
}

/** The run's template database; whoever asks first waits for PostgreSQL to start. */
async function askForTemplate(): Promise<ConnectionParts> {
  const url = inject('templateUrl');
  if (url === '') throw new Error('Unit tests have no database; name this file "x.db.test.ts".');
  const reply = await fetch(url);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`The tests' PostgreSQL did not start: ${text}`);
  return JSON.parse(text);
}

async function copyDatabase(client: pg.Client, template: string, database: string): Promise<void> {
  const deadline = Date.now() + RETRY_TIMEOUT_MS;
  for (;;) {
    try {
      await client.query(`CREATE DATABASE ${database} TEMPLATE ${template}`);
      return;
    } catch (error) {
      const isBusy = error instanceof pg.DatabaseError && error.code === TEMPLATE_IN_USE;
      if (!isBusy || Date.now() > deadline) throw error;
      await delay(RETRY_MS);
    }
  }
}

async function withMaintenance<T>(
  template: ConnectionParts,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...template, database: MAINTENANCE_DATABASE });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
