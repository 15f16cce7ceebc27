import pg from 'pg';
import { cut } from './client.ts';
import type { Db } from './db.ts';

/**
 * How anything reaches the database. Every connection is acquired, bounded, cut and released in this
 * folder, and every deadline stands in `deadlines.ts`; `test/architecture.test.ts` sees to it.
 *
 *     db('flags')...          one Knex query         ─────────────┐
 *     transaction             Knex, BEGIN to COMMIT  ─┐           │
 *     readConsistently        Knex, one snapshot     ─┤           │
 *     pipelinedTransaction    few round trips        ─┼─ withConnection ─── the pool of createDb
 *     pipelinedSnapshot       one round trip         ─┤   withDeadline        │
 *     readCancellably         long, can be stopped   ─┤       │ too late      │ isLendable: neither
 *     withConnection itself   named statements       ─┘      cut ─────────────┘ cut nor in the middle
 *                                                                               of a transaction
 *     createDedicatedClient   LISTEN, outside the pool
 *
 * Acquires a connection of the pool for `use` and releases it when that has ended, however it ended.
 * Throws an outage when none is free within `acquireMs`.
 */
export async function withConnection<Result>(
  db: Db,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client: unknown = await db.client.acquireConnection();
  try {
    if (!(client instanceof pg.Client)) throw new Error('The connection is none of pg.');
    return await use(client);
  } finally {
    await db.client.releaseConnection(client);
  }
}

/**
 * Cuts the connection when the work on it takes longer than `ms` milliseconds: a server whose host
 * is gone says nothing at all, and its clients would wait for hours. The work then fails as an
 * outage at the statement that it waits for, or at its next one.
 */
export async function withDeadline<Result>(
  client: pg.Client,
  ms: number,
  work: () => Promise<Result>,
): Promise<Result> {
  if (ms === Number.POSITIVE_INFINITY) return work();
  const timer = setTimeout(() => cut(client), ms);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
