import pg from 'pg';
import { POOL_DEADLINES, type PoolDeadlines } from './deadlines.ts';

/** The parts of a connection; `host` may be the folder of a Unix socket. */
export interface ConnectionParts {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Where the database is: a `postgres://` URL or its parts. */
export type DatabaseConnection = string | ConnectionParts;

const INT8_OID = 20;

// Counts and ids stay far below 2^53, so they are numbers here and not strings.
pg.types.setTypeParser(INT8_OID, Number);

/** What every connection to the database is opened with, by the pool or on its own. */
export function clientConfig(
  connection: DatabaseConnection,
  { connectMs }: Pick<PoolDeadlines, 'connectMs'> = POOL_DEADLINES,
) {
  const address =
    typeof connection === 'string' ? { connectionString: connection } : { ...connection };
  return { ...address, connectionTimeoutMillis: connectMs };
}

/**
 * A connection outside the pool for whoever listens on it as long as the process runs. It is not
 * connected yet, so that nothing that it emits is missed.
 */
export function createDedicatedClient(connection: DatabaseConnection): pg.Client {
  return new pg.Client({ ...clientConfig(connection), keepAlive: true });
}

const cutClients = new WeakSet<pg.Client>();

/**
 * Ends a connection without a word to the server, which may not be listening. What was asked over it
 * fails as an outage, and the pool does not lend it again.
 */
export function cut(client: pg.Client): void {
  cutClients.add(client);
  client.connection.stream.destroy();
}

/**
 * Whether the pool may lend a connection that came back. One that was cut is gone, and one that came
 * back in the middle of a transaction, as after a rollback without an answer, would do the work of
 * two callers in one transaction; it is cut as well.
 */
export function isLendable(client: unknown): boolean {
  if (!(client instanceof pg.Client) || cutClients.has(client)) return false;
  if (client.getTransactionStatus() === 'I') return true;
  cut(client);
  return false;
}
