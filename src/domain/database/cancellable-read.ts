import type pg from 'pg';
import { cut } from './client.ts';
import { withConnection, withDeadline } from './connection.ts';
import type { Db } from './db.ts';
import { CANCELLABLE_READ_GRACE_MS, LIMITS } from './deadlines.ts';
import { transaction } from './transaction.ts';

export interface CancellableReadOptions {
  /** How long a statement may take; `limitStatements` says what is left of it for later ones. */
  readonly timeoutMs: number;
  /** How much longer the server may take to say that the time is over, before it is cut off. */
  readonly graceMs?: number;
  /** Ends the read early; it then rejects. */
  readonly signal?: AbortSignal;
  /** Settings of PostgreSQL that these reads need, such as `work_mem = '32MB'`. */
  readonly settings?: readonly string[];
}

/**
 * Runs long reads that all see the state of one moment, over one connection. They end when their
 * time is over, when the signal says so, and when the server does not answer any more.
 */
export async function readCancellably<Result>(
  db: Db,
  options: CancellableReadOptions,
  read: (client: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  const { timeoutMs, graceMs = CANCELLABLE_READ_GRACE_MS, signal, settings = [] } = options;
  const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
  return withConnection(db, async (client) => {
    let stopListening = async () => {};
    try {
      return await withDeadline(client, timeoutMs + graceMs, () =>
        endTransaction(client, async () => {
          await client.query([begin, ...settings.map((each) => `SET LOCAL ${each}`)].join('; '));
          if (signal !== undefined) stopListening = await cancelOn(signal, db, client);
          await limitStatements(client, timeoutMs);
          return read(client);
        }),
      );
    } finally {
      await stopListening();
    }
  });
}

async function endTransaction<Result>(
  client: pg.Client,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      // The connection is gone, and the transaction with it.
    });
    throw error;
  }
}

/** How long each further statement of the transaction may take. */
export async function limitStatements(client: pg.ClientBase, ms: number): Promise<void> {
  await client.query(`SET LOCAL statement_timeout = ${Math.max(1, Math.round(ms))}`);
}

/**
 * Cancels the running statement when the signal says so. Returns how to stop that: a cancellation
 * that is under way then ends first, so that it cannot strike whoever has the connection next.
 */
async function cancelOn(
  signal: AbortSignal,
  db: Db,
  client: pg.Client,
): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  signal.throwIfAborted();
  let cancelled: Promise<unknown> = Promise.resolve();
  const cancel = () => {
    cancelled = transaction(db, LIMITS.cancellation, async (tx) => {
      await tx.raw('SELECT pg_cancel_backend(?)', [rows[0]?.pid ?? 0]);
    }).catch(() => {
      // It may still strike: nobody must have this connection next.
      cut(client);
    });
  };
  signal.addEventListener('abort', cancel, { once: true });
  return async () => {
    signal.removeEventListener('abort', cancel);
    await cancelled;
  };
}
