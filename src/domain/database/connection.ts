import pg from 'pg';
import { cut } from './client.ts';
import type { Db } from './db.ts';

/*
 * How anything reaches the database. Connections are acquired, bounded, cut and released in this
 * folder and nowhere else, which `test/architecture.test.ts` sees to.
 *
 *     transaction           Knex, from BEGIN to COMMIT   --+
 *     readConsistently      the same, one snapshot       --+
 *     pipelinedTransaction  as few round trips as it can --+
 *     pipelinedSnapshot     a single round trip          --+
 *     readCancellably       long, can be stopped         --+--> withConnection --+
 *     the stored-data loader, named statements           --+    withDeadline     |
 *                                                                                v
 *     db('flags'), db.raw   one query of Knex            --------------> the pool of createDb
 *
 *     createDedicatedClient LISTEN                       --> a connection outside the pool
 *
 * A connection goes back to the pool when the work on it has ended, however it ended. Before the pool
 * lends it again, `isLendable` looks at it: one that was cut, or that came back in the middle of a
 * transaction, is closed and another one is opened in its place.
 */

/**
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
