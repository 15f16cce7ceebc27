import type { Db } from '../database/db.ts';
import {
  addDays,
  listPartitionDays,
  lockPartitions,
  toDay,
  toPartitionName,
} from './event-partitions.ts';

/** Rows of one transaction, few enough that nobody waits for it. */
const PRUNE_ROWS = 10_000;

/** Dropping a partition needs the whole table for a moment; events do not wait long for it. */
const LOCK_TIMEOUT_MS = 2_000;

export interface RetentionOptions {
  readonly now: Date;
  /** Events of the day of receipt and so many days before it are kept. */
  readonly retentionDays: number;
  /** Asked between transactions: whether to leave the rest for another time. */
  readonly isStopped?: () => boolean;
}

/**
 * Drops the partitions of days that are over their time, then forgets the uuids of their events.
 * In that order: while an event is there, another one with its uuid is still found out.
 */
export async function dropExpiredEvents(db: Db, options: RetentionOptions): Promise<void> {
  const { now, retentionDays, isStopped = () => false } = options;
  const firstKept = toDay(addDays(now, -retentionDays));
  for (const day of await listPartitionDays(db)) {
    if (isStopped()) return;
    if (day < firstKept) await dropPartition(db, day);
  }
  for (let pruned = PRUNE_ROWS; pruned === PRUNE_ROWS && !isStopped(); ) {
    pruned = await pruneUuids(db, firstKept);
  }
}

async function dropPartition(db: Db, day: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.raw(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await lockPartitions(tx);
    await tx.raw('DROP TABLE IF EXISTS ??', [toPartitionName(day)]);
  });
}

async function pruneUuids(db: Db, firstKept: string): Promise<number> {
  const result: { rowCount: number } = await db.raw(
    `DELETE FROM event_uuids WHERE (project_id, uuid) IN (
       SELECT project_id, uuid FROM event_uuids WHERE received_on < ?::date LIMIT ?
     )`,
    [firstKept, PRUNE_ROWS],
  );
  return result.rowCount;
}
