import type { Knex } from 'knex';
import { unavailable } from '../common/refusal.ts';
import { withConnection, withDeadline } from './connection.ts';
import { isStatementTimeout } from './database-error.ts';
import type { Db, Tx } from './db.ts';
import type { TransactionLimits } from './deadlines.ts';

/**
 * Runs `work` in a transaction of Knex and commits it, or rolls it back and throws what `work` threw.
 * A server that is busy gives up by itself, and the connection to one that does not answer at all is
 * cut, so that it does not stay in the pool. What took longer than its limits throws `unavailable`.
 */
export async function transaction<Result>(
  db: Db,
  limits: TransactionLimits,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return runTransaction(db, limits, {}, work);
}

/** The same for reads that all see the state of one moment. Whatever they would write fails. */
export async function readConsistently<Result>(
  db: Db,
  limits: TransactionLimits,
  read: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return runTransaction(db, limits, { isolationLevel: 'repeatable read', readOnly: true }, read);
}

async function runTransaction<Result>(
  db: Db,
  limits: TransactionLimits,
  config: Knex.TransactionConfig,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const settings = limitSettings(limits);
  const run = (limitedWork: typeof work) =>
    withConnection(db, (connection) =>
      withDeadline(connection, limits.totalMs, () =>
        db.transaction(limitedWork, { ...config, connection }),
      ),
    );
  if (settings.length === 0) return run(work);
  return tellUnavailable(() => run(withSettings(settings, work)));
}

/** Sets them for this transaction only, without a round trip of their own. */
function withSettings<Result>(
  settings: readonly Setting[],
  work: (tx: Tx) => Promise<Result>,
): (tx: Tx) => Promise<Result> {
  return async (tx) => {
    // Asking for its end is what sends it. The first statement of the work follows with it, and the
    // server keeps their order.
    const isSet = tx
      .raw(
        'SELECT set_config(name, setting, true) FROM unnest(?::text[], ?::text[]) AS s (name, setting)',
        [settings.map(([name]) => name), settings.map(([, ms]) => String(ms))],
      )
      .then(() => undefined);
    const [result] = await Promise.all([work(tx), isSet]);
    return result;
  };
}

/** Tells a statement that took longer than its limits as `unavailable`. */
export async function tellUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw unavailable('The database is busy. Please try again shortly.', error);
  }
}

type Setting = readonly [name: string, ms: number];

/** Limits by the names that PostgreSQL has for them, in whole milliseconds. */
export function limitSettings({
  lockMs,
  statementMs,
  totalMs,
}: TransactionLimits): readonly Setting[] {
  const settings: readonly Setting[] = [
    ['lock_timeout', Math.ceil(lockMs)],
    ['statement_timeout', Math.ceil(statementMs)],
    // A process whose host is gone cannot even say so; its locks would be held for hours.
    ['idle_in_transaction_session_timeout', Math.ceil(totalMs)],
  ];
  return settings.filter(([, ms]) => Number.isFinite(ms));
}
