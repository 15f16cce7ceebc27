import pg from 'pg';
import { unavailable } from '../errors.ts';
import { isStatementTimeout } from './database-error.ts';
import type { Db, Tx } from './db.ts';

/** How long a transaction may take, and parts of it, in milliseconds. */
export interface TransactionLimits {
  /** Waiting for a lock that somebody else holds. */
  readonly lockMs: number;
  /** One statement, as the server measures it. */
  readonly statementMs: number;
  /** All of it, even when the server does not answer any more. */
  readonly totalMs: number;
}

/**
 * A transaction that ends in time: a server that is busy gives up by itself, and the connection to
 * one that does not answer at all is cut, so that it does not stay in the pool. What took too long
 * is thrown as `unavailable`.
 */
export async function guardedTransaction<Result>(
  db: Db,
  limits: TransactionLimits,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const connection: unknown = await db.client.acquireConnection();
  const timer = setTimeout(() => cutConnection(connection), limits.totalMs);
  try {
    return await db.transaction(
      async (tx) => {
        // The first statement of the work goes with it; the server keeps their order.
        const [, result] = await Promise.all([
          tx.raw(
            "SELECT set_config('lock_timeout', ?, true), set_config('statement_timeout', ?, true)",
            [String(limits.lockMs), String(limits.statementMs)],
          ),
          work(tx),
        ]);
        return result;
      },
      { connection },
    );
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw unavailable('The database is busy. Please try again shortly.', error);
  } finally {
    clearTimeout(timer);
    await db.client.releaseConnection(connection);
  }
}

/** Ends a connection without a word to the server, which may not be listening. */
export function cutConnection(connection: unknown): void {
  if (connection instanceof pg.Client) connection.connection.stream.destroy();
}
