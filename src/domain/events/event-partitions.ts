import type { Db, Tx } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';

/** The keys of the advisory lock that lets one process at a time create partitions. */
const PARTITIONS_LOCK = [7302, 0];

const DAY_MS = 86_400_000;

const PARTITION_NAME = /^events_(\d{4})(\d{2})(\d{2})$/;

/**
 * Makes sure that events received on the UTC day of `from` and the following ones, `days` in all,
 * have a partition. Safe when several processes do it at once. A partition is built beside the
 * table and then attached, so that neither readers nor writers of events are held up.
 */
export async function ensurePartitions(db: Db | Tx, from: Date, days: number): Promise<void> {
  const wanted = Array.from({ length: days }, (_, offset) => toDay(addDays(from, offset)));
  if ((await findMissing(db, wanted)).length === 0) return;
  await transaction(db, LIMITS.background, async (tx) => {
    await lockPartitions(tx);
    for (const day of await findMissing(tx, wanted)) await createPartition(tx, day);
  });
}

/** Waits until no other process makes or drops partitions, and keeps it so until `tx` ends. */
export async function lockPartitions(tx: Tx): Promise<void> {
  await tx.raw('SELECT pg_advisory_xact_lock(?, ?)', PARTITIONS_LOCK);
}

/** The days that have a partition, oldest first, as `YYYY-MM-DD`. */
export async function listPartitionDays(db: Db): Promise<string[]> {
  const result: { rows: { relname: string }[] } = await db.raw(
    `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'events'::regclass ORDER BY c.relname`,
  );
  return result.rows.flatMap(({ relname }) => {
    const [, year, month, day] = PARTITION_NAME.exec(relname) ?? [];
    return day === undefined ? [] : [`${year}-${month}-${day}`];
  });
}

/** The UTC day of the instant as `YYYY-MM-DD`. */
export const toDay = createDayFormat();

/** Remembers the last day: capture asks for every event, and it is nearly always today. */
function createDayFormat(): (date: Date) => string {
  let lastDay = Number.NaN;
  let lastText = '';
  return (date) => {
    const day = Math.floor(date.getTime() / DAY_MS);
    if (day !== lastDay) {
      lastDay = day;
      lastText = new Date(day * DAY_MS).toISOString().slice(0, 10);
    }
    return lastText;
  };
}

/** The instant so many days later. */
export function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS);
}

async function findMissing(db: Db | Tx, days: readonly string[]): Promise<string[]> {
  const result: { rows: { relname: string }[] } = await db.raw(
    `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'events'::regclass AND c.relname = ANY (?::text[])`,
    [days.map(toPartitionName)],
  );
  const existing = new Set(result.rows.map((row) => row.relname));
  return days.filter((day) => !existing.has(toPartitionName(day)));
}

async function createPartition(tx: Tx, day: string): Promise<void> {
  const name = toPartitionName(day);
  const nextDay = toDay(addDays(new Date(`${day}T00:00:00Z`), 1));
  await tx.raw('CREATE TABLE ?? (LIKE events INCLUDING DEFAULTS)', [name]);
  await tx.raw(
    `ALTER TABLE events ATTACH PARTITION ?? FOR VALUES FROM ('${day}') TO ('${nextDay}')`,
    [name],
  );
}

/** The table that holds the events of the day. */
export function toPartitionName(day: string): string {
  return `events_${day.replaceAll('-', '')}`;
}
