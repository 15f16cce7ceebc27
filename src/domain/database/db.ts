import knexPackage, { type Knex } from 'knex';
import { clientConfig, type DatabaseConnection, isLendable } from './client.ts';
import { POOL_DEADLINES, type PoolDeadlines } from './deadlines.ts';

export type { ConnectionParts, DatabaseConnection } from './client.ts';

/** A connection pool. Queries take it as their first argument. */
export type Db = Knex;

/** An open transaction. Functions that write take it, so that the caller decides what commits. */
export type Tx = Knex.Transaction;

/** Knex prints what it also throws. Whoever catches the error logs it. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} };

/** Opens a pool of at most `poolMax` connections; nothing connects before the first query. */
export function createDb(
  connection: DatabaseConnection,
  poolMax = 10,
  deadlines: PoolDeadlines = POOL_DEADLINES,
): Db {
  // Statements that are started together share one round trip, in the order of their start.
  const settings = { ...clientConfig(connection, deadlines), pipeline: true };
  return knexPackage.knex({
    client: 'pg',
    connection: settings,
    pool: { min: 0, max: poolMax, validate: isLendable },
    acquireConnectionTimeout: deadlines.acquireMs,
    log: SILENT,
  });
}
