import pg from 'pg';
import { unavailable } from '../common/refusal.ts';
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
  const settings = limitSettings(limits);
  const connection: unknown = await db.client.acquireConnection();
  const timer = setTimeout(() => cutConnection(connection), limits.totalMs);
  try {
    return await db.transaction(
      async (tx) => {
        // Asking for its end is what sends it. The first statement of the work follows with it, and
        // the server keeps their order.
        const limited = tx
          .raw(
            'SELECT set_config(name, setting, true) FROM unnest(?::text[], ?::text[]) AS s (name, setting)',
            [Object.keys(settings), Object.values(settings).map(String)],
          )
          .then(() => undefined);
        const [result] = await Promise.all([work(tx), limited]);
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

/** The limits as PostgreSQL has them, in whole milliseconds. */
export function limitSettings({ lockMs, statementMs, totalMs }: TransactionLimits) {
  return {
    lock_timeout: Math.ceil(lockMs),
    statement_timeout: Math.ceil(statementMs),
    // A process whose host is gone cannot even say so; its locks would be held for hours.
    idle_in_transaction_session_timeout: Math.ceil(totalMs),
  };
}

/** Ends a connection without a word to the server, which may not be listening. */
export function cutConnection(connection: unknown): void {
  if (connection instanceof pg.Client) connection.connection.stream.destroy();
}
