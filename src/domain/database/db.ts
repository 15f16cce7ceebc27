import knexPackage, { type Knex } from 'knex';
import pg from 'pg';

/** A connection pool. Queries take it as their first argument. */
export type Db = Knex;

/** An open transaction. Functions that write take it, so that the caller decides what commits. */
export type Tx = Knex.Transaction;

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

/** How long a query may wait for a free connection before the database counts as unavailable. */
const ACQUIRE_TIMEOUT_MS = 5_000;

/** How long connecting may take before the database counts as unavailable. */
const CONNECT_TIMEOUT_MS = 3_000;

/** Knex prints what it also throws. Whoever catches the error logs it. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} };

/** Opens a pool of at most `poolMax` connections; nothing connects before the first query. */
export function createDb(connection: DatabaseConnection, poolMax = 10): Db {
  const settings = {
    ...connectionConfig(connection),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Statements that are started together share one round trip, in the order of their start.
    pipeline: true,
  };
  return knexPackage.knex({
    client: 'pg',
    connection: settings,
    pool: { min: 0, max: poolMax },
    acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
    log: SILENT,
  });
}

/** The connection as the object that `pg` and Knex take. */
export function connectionConfig(
  connection: DatabaseConnection,
): { connectionString: string } | ConnectionParts {
  return typeof connection === 'string' ? { connectionString: connection } : connection;
}
