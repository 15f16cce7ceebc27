import { statSync } from 'node:fs';
import pg from 'pg';
import { DATABASE_NAME, DATABASE_USER } from './install/data-folder.ts';
import { EmbeddedPostgresError, errorCode } from './install/error.ts';
import type { Endpoint } from './server/endpoint.ts';

/** The database that initdb makes; the one to connect to while ours may not exist. */
const MAINTENANCE_DATABASE = 'postgres';

const CONNECT_TIMEOUT_MS = 3_000;

const WRONG_PASSWORD = '28P01';

/** Another process created the database between our look and our statement. */
const ALREADY_CREATED = ['42P04', '23505'];

/** How a server behaves towards us. `silent` may also be one that is starting or stopping. */
export type Answer = 'ours' | 'of-another-folder' | 'wrong-password' | 'silent';

/** How a server is reached; `host` may be the folder of a Unix socket. */
export interface ConnectionParts {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** The connection to Burgee's database at an endpoint. */
export function connectionTo(endpoint: Endpoint, password: string): ConnectionParts {
  const { host, port } = endpoint;
  return { host, port, user: DATABASE_USER, password, database: DATABASE_NAME };
}

/** Asks whoever listens there whether it is the server of this folder. Never throws. */
export async function askServer(connection: ConnectionParts, dataFolder: string): Promise<Answer> {
  try {
    return await withClient(connection, MAINTENANCE_DATABASE, async (client) => {
      const result = await client.query<{ data_directory: string }>('SHOW data_directory');
      return isSameFolder(result.rows[0]?.data_directory ?? '', dataFolder)
        ? 'ours'
        : 'of-another-folder';
    });
  } catch (error) {
    return errorCode(error) === WRONG_PASSWORD ? 'wrong-password' : 'silent';
  }
}

/** Creates Burgee's database when the server lacks it, as after an interrupted first start. */
export async function ensureDatabase(connection: ConnectionParts): Promise<void> {
  try {
    await withClient(connection, MAINTENANCE_DATABASE, async (client) => {
      const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [
        connection.database,
      ]);
      if (found.rowCount === 0) {
        await client.query(`CREATE DATABASE ${client.escapeIdentifier(connection.database)}`);
      }
    });
  } catch (error) {
    if (ALREADY_CREATED.includes(errorCode(error))) return;
    if (errorCode(error) !== WRONG_PASSWORD) throw error;
    throw new EmbeddedPostgresError(
      'The embedded database does not accept the password that is stored beside it. Restore the ' +
        'file postgres-password from a backup of the data folder.',
      { cause: error },
    );
  }
}

async function withClient<T>(
  connection: ConnectionParts,
  database: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...connection,
    database,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: 10 * CONNECT_TIMEOUT_MS,
  });
  // A connection that breaks between two statements must not bring the process down.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** By identity and not by path, since a folder may be mounted at several. */
function isSameFolder(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
