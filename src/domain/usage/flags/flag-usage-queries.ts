import type { Db } from '../../database/db.ts';
import { FEATURE_VIEW } from './flag-use.ts';

/** What is asked for: the uses of some flags on the first day and all that follow. */
export interface FlagUsageQuery {
  readonly projectId: number;
  readonly flagKeys: readonly string[];
  readonly events: readonly string[];
  readonly firstDay: string;
}

/** The uses of one flag and variant under one event. Days without any are absent. */
export interface VariantUsage {
  readonly flagKey: string;
  readonly event: string;
  readonly variant: string;
  readonly callsByDay: ReadonlyMap<string, number>;
  readonly usersByDay: ReadonlyMap<string, number>;
  /** Different users over all days, which is less than the sum when one came back. */
  readonly users: number;
}

interface UsageRow {
  readonly flag_key: string;
  readonly event: string;
  readonly variant: string;
  readonly days: readonly string[];
  readonly calls: readonly number[];
  readonly users: readonly number[];
  readonly all_users: number;
}

/** The usage of the flags by event and variant, the most called variant first, in one query. */
export async function readFlagUsage(db: Db, query: FlagUsageQuery): Promise<VariantUsage[]> {
  const { projectId, firstDay } = query;
  const result: { rows: UsageRow[] } = await db.raw(
    `SELECT s.flag_key, s.event, s.variant,
            array_agg(d.day::text) AS days,
            array_agg(d.calls::float8) AS calls,
            array_agg(d.users::float8) AS users,
            sum(d.last_seen_users)::float8 AS all_users
     FROM flag_usage_series s JOIN flag_usage_days d ON d.series_id = s.id
     WHERE s.project_id = ? AND s.event = ANY (?::text[]) AND s.flag_key = ANY (?::text[])
       AND d.day >= ? AND d.calls > 0
     GROUP BY s.id
     ORDER BY sum(d.calls) DESC, s.variant COLLATE "C"`,
    [projectId, [...query.events], [...query.flagKeys], firstDay],
  );
  return result.rows.map((row) => ({
    flagKey: row.flag_key,
    event: row.event,
    variant: row.variant,
    callsByDay: new Map(row.days.map((day, index) => [day, row.calls[index] ?? 0])),
    usersByDay: new Map(row.days.map((day, index) => [day, row.users[index] ?? 0])),
    users: row.all_users,
  }));
}

/** Whether any view of the feature behind the flag was reported. */
export async function hasFeatureViews(
  db: Db,
  projectId: number,
  flagKey: string,
): Promise<boolean> {
  const row = await db('flag_usage_series')
    .where({ project_id: projectId, event: FEATURE_VIEW, flag_key: flagKey })
    .select('id')
    .first();
  return row !== undefined;
}
