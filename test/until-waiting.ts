import type { Db } from '../src/domain/database/db.ts';

/** Resolves once so many statements in the database wait for a lock. */
export async function untilWaiting(db: Db, count = 1): Promise<void> {
  for (let waiting = 0; waiting < count; ) {
    const result: { rows: { waiting: number }[] } = await db.raw(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    waiting = result.rows[0]?.waiting ?? 0;
  }
}
