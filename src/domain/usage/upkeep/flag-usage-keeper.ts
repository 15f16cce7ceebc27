import type { Db, Tx } from '../../database/db.ts';
import { LIMITS } from '../../database/deadlines.ts';
import { transaction } from '../../database/transaction.ts';
import { lockPersons } from '../../persons/write/persons-writes.ts';
import { FEATURE_VIEW, FLAG_CALLED } from '../flags/flag-use.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DEFAULT_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 6 * 60 * MINUTE_MS;

/** Uses this much older than the last look are looked at again: they may have committed late. */
const OVERLAP_MS = 5 * MINUTE_MS;

export interface FlagUsageKeeperOptions {
  readonly db: Db;
  readonly now: () => Date;
  /** How many days uses of flags are kept. */
  readonly retentionDays: number;
  readonly log: { warn(fields: object, message: string): void };
  readonly everyMs?: number;
}

/** Copies usage to flags every few seconds and prunes it at intervals, until it is stopped. */
export function keepFlagUsage(options: FlagUsageKeeperOptions): { stop(): Promise<void> } {
  const { db, now, log, retentionDays } = options;
  let noted: Date | null = null;
  let pruned: Date | null = null;
  let isStopped = false;

  async function look(): Promise<void> {
    const startedAt = now();
    await noteUsageOnFlags(db, noted === null ? null : new Date(noted.getTime() - OVERLAP_MS));
    noted = startedAt;
    if (pruned !== null && startedAt.getTime() - pruned.getTime() < PRUNE_EVERY_MS) return;
    await pruneFlagUsage(db, { now: startedAt, retentionDays, isStopped: () => isStopped });
    pruned = startedAt;
  }

  let looking: Promise<void> | null = null;
  const timer = setInterval(() => {
    looking ??= look()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'The use of flags could not be noted on them; trying again.');
      })
      .finally(() => {
        looking = null;
      });
  }, options.everyMs ?? DEFAULT_EVERY_MS);
  timer.unref();
  return {
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await looking;
    },
  };
}

/**
 * Brings `last_called_at` and `has_enriched_analytics` of flags up to date with what was received
 * since the instant, or ever. Nothing that is evaluated changes, so there is no new revision.
 *
 * What was received before a flag existed concerns an earlier flag of the same key. A flag that
 * is locked by a change is skipped until the next run.
 */
export async function noteUsageOnFlags(db: Db, since: Date | null): Promise<void> {
  await db.raw(
    `WITH used AS (
       SELECT project_id, flag_key, max(last_received_at) AS received_at,
              max(last_used_at) FILTER (WHERE event = :called) AS called_at,
              bool_or(event = :viewed) AS is_viewed
       FROM flag_usage_series
       WHERE last_received_at >= coalesce(:since::timestamptz, '-infinity')
         AND event IN (:called, :viewed)
       GROUP BY project_id, flag_key
     ), due AS (
       SELECT f.id, u.called_at, u.is_viewed
       FROM feature_flags f
       JOIN used u ON u.project_id = f.project_id AND u.flag_key = f.key
       WHERE NOT f.deleted AND u.received_at >= f.created_at
         AND (
           u.called_at > coalesce(f.last_called_at, '-infinity')
           OR (u.is_viewed AND NOT f.has_enriched_analytics)
         )
       ORDER BY f.id
       FOR UPDATE OF f SKIP LOCKED
     )
     UPDATE feature_flags AS f
     SET last_called_at = greatest(f.last_called_at, due.called_at),
         has_enriched_analytics = f.has_enriched_analytics OR due.is_viewed
     FROM due WHERE f.id = due.id`,
    { called: FLAG_CALLED, viewed: FEATURE_VIEW, since },
  );
}

export interface PruneOptions {
  readonly now: Date;
  readonly retentionDays: number;
  /** Called before each transaction; true leaves the rest for the next run. */
  readonly isStopped?: () => boolean;
}

/**
 * Deletes uses that are older than they are kept, and series and visitors that were not used
 * since, in many short transactions.
 */
export async function pruneFlagUsage(
  db: Db,
  { now, retentionDays, isStopped = () => false }: PruneOptions,
): Promise<void> {
  const cutoff = new Date(now.getTime() - retentionDays * DAY_MS);
  const day = cutoff.toISOString().slice(0, 10);
  while (!isStopped() && (await deleteBefore(db, 'flag_usage_users', day))) {}
  while (!isStopped() && (await deleteBefore(db, 'flag_usage_days', day))) {}
  if (!isStopped()) await pruneSeries(db, cutoff, isStopped);
  while (!isStopped() && (await pruneVisitors(db, isStopped))) {}
}

/**
 * Deletes some rows of earlier days; returns whether there may be more. Capture changes them too, in
 * an order of its own: rows that it has locked are skipped until the next run, so neither waits for
 * the other.
 */
async function deleteBefore(
  db: Db,
  table: 'flag_usage_users' | 'flag_usage_days',
  day: string,
): Promise<boolean> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `DELETE FROM ?? WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ?? WHERE day < ?::date LIMIT ? FOR UPDATE SKIP LOCKED
     ))`,
    [table, table, day, PRUNED_ROWS_MAX],
  );
  return rowCount === PRUNED_ROWS_MAX;
}

async function pruneSeries(db: Db, cutoff: Date, isStopped: () => boolean): Promise<void> {
  const idle = (query: Db | Tx) =>
    query('flag_usage_series').where('last_received_at', '<', cutoff);
  for (const projectId of await idle(db).distinct().pluck('project_id')) {
    if (isStopped()) return;
    await transaction(db, LIMITS.background, async (tx) => {
      // Capture holds this lock from finding a series to counting in it.
      await lockPersons(tx, [projectId]);
      await idle(tx).where({ project_id: projectId }).delete();
    });
  }
}

/** Deletes some visitors who used nothing that is kept; returns whether there may be more. */
async function pruneVisitors(db: Db, isStopped: () => boolean): Promise<boolean> {
  const idle: { rows: { project_id: number; distinct_ids: string[] }[] } = await db.raw(
    `SELECT project_id, array_agg(distinct_id) AS distinct_ids
     FROM (
       SELECT project_id, distinct_id FROM flag_usage_visitors AS v WHERE ${USED_NOTHING} LIMIT ?
     ) AS v
     GROUP BY project_id`,
    [PRUNED_VISITORS_MAX],
  );
  for (const { project_id, distinct_ids } of idle.rows) {
    if (isStopped()) return false;
    await transaction(db, LIMITS.background, async (tx) => {
      await lockPersons(tx, [project_id]);
      // By the primary key: capture waits for the lock meanwhile.
      await tx.raw(
        `DELETE FROM flag_usage_visitors AS v
         WHERE project_id = ? AND distinct_id = ANY (?::text[]) AND ${USED_NOTHING}`,
        [project_id, distinct_ids],
      );
    });
  }
  return idle.rows.length > 0;
}

/** Few enough that capture does not wait long for any of them. */
const PRUNED_ROWS_MAX = 10_000;
const PRUNED_VISITORS_MAX = 10_000;
const USED_NOTHING = 'NOT EXISTS (SELECT FROM flag_usage_users AS u WHERE u.user_id = -v.id)';
