import type { Knex } from 'knex';
import type { Db } from '../database/db.ts';

/** Which of these things a job of whatever kind waits for or works on. */
export async function listBusySubjects(
  db: Db,
  kinds: readonly string[],
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const busy = await db('jobs')
    .whereIn('state', ['waiting', 'running'])
    .whereIn('kind', [...kinds])
    .whereIn('subject_id', [...ids])
    .pluck('subject_id');
  return new Set(busy);
}

/**
 * Whether a job of one of the kinds waits for or works on the thing whose id is in the column, for
 * use within a statement that reads that thing: what is told of it and of its jobs is then of one
 * moment. Read one after the other, a job that ends in between leaves a thing that looks untouched
 * and yet at rest.
 */
export function selectBusy(
  db: Db,
  kinds: readonly string[],
  column: string,
  alias: string,
): Knex.Raw<boolean> {
  return db.raw(
    `EXISTS (SELECT FROM jobs WHERE jobs.subject_id = ?? AND jobs.kind = ANY(?)
       AND jobs.state IN ('waiting', 'running')) AS ??`,
    [column, [...kinds], alias],
  );
}
