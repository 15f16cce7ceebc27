import type { Db } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import {
  addDays,
  listPartitionDays,
  lockPartitions,
  toDay,
  toPartitionName,
} from './event-partitions.ts';

/** Pages of one transaction, some hundred thousand rows: nobody waits for it. */
const PRUNE_PAGES = 2_000;

/** Drops events whose retention has expired. */
export interface EventRetention {
  /**
   * Drops the partitions of days whose retention has expired, then forgets the uuids of their events.
   * In that order: while an event is there, another one with its uuid is still detected.
   * `isStopped` is asked between transactions: whether to leave the rest for later.
   */
  drop(now: Date, isStopped: () => boolean): Promise<void>;
}

/** Keeps the events of the day of receipt and so many days before it. */
export function createEventRetention(db: Db, retentionDays: number): EventRetention {
  /** What a process leaves over when it ends is forgotten with the next day. */
  let isForgettingDue = false;
  return {
    async drop(now, isStopped) {
      const firstKept = toDay(addDays(now, -retentionDays));
      for (const day of await listPartitionDays(db)) {
        if (isStopped()) return;
        if (day >= firstKept) continue;
        await dropPartition(db, day);
        isForgettingDue = true;
      }
      if (!isForgettingDue) return;
      await forgetUuids(db, firstKept, isStopped);
      isForgettingDue = isStopped();
    },
  };
}

async function dropPartition(db: Db, day: string): Promise<void> {
  await transaction(db, LIMITS.partitionDrop, async (tx) => {
    await lockPartitions(tx);
    await tx.raw('DROP TABLE IF EXISTS ??', [toPartitionName(day)]);
  });
}

/**
 * Goes through the whole table, once a day and piece by piece: an index that knows the old uuids
 * would cost every event that is stored.
 */
async function forgetUuids(db: Db, firstKept: string, isStopped: () => boolean): Promise<void> {
  const result: { rows: { pages: number }[] } = await db.raw(
    `SELECT pg_relation_size('event_uuids') / current_setting('block_size')::int AS pages`,
  );
  const pages = Number(result.rows[0]?.pages ?? 0);
  for (let page = 0; page < pages && !isStopped(); page += PRUNE_PAGES) {
    await db.raw(
      `DELETE FROM event_uuids
       WHERE ctid >= ?::tid AND ctid < ?::tid AND received_on < ?::date`,
      [`(${page},0)`, `(${page + PRUNE_PAGES},0)`, firstKept],
    );
  }
}
