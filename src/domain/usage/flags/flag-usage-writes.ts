import { toPlainArray } from '../../database/column-literals.ts';
import { type Sent, type Statements, sendWith } from '../../database/pipeline.ts';
import { resolveSeries } from './flag-usage-series.ts';
import { resolveVisitors, takeVisitors } from './flag-usage-visitors.ts';
import type { FlagUse } from './flag-use.ts';
import type { FullProjects } from './full-projects.ts';

/** A use of a flag by the person, or else the distinct id, of one event. */
export interface RecordedFlagUse {
  readonly projectId: number;
  readonly distinctId: string;
  readonly personId: number | null;
  readonly use: FlagUse;
  readonly timestamp: Date;
  readonly receivedAt: Date;
}

/**
 * Counts the uses, in the transaction that stores their events, in a fixed number of statements.
 * The day of a use is that of its event in the project's timezone, or the day of receipt when the
 * client's clock is ahead. Needs `lockPersons`: who a use belongs to must not change under it.
 */
export async function sendFlagUses(
  tx: Statements,
  uses: readonly RecordedFlagUse[],
  full: FullProjects,
): Promise<Sent<void>> {
  if (uses.length === 0) return sendWith(undefined);
  const series = resolveSeries(tx, uses, full);
  // Users of what is not counted are not stored either, at the cost of a round trip to know that.
  const isAnyFull = uses.some(({ projectId }) => full.isFull(projectId));
  const counted = isAnyFull ? await series.then((of) => uses.filter((use) => of(use))) : uses;
  const [seriesOf, visitorOf] = await Promise.all([series, resolveVisitors(tx, counted)]);
  const rows = uses.flatMap((use) => {
    const series = seriesOf(use);
    const userId = use.personId ?? visitorOf(use);
    if (series === undefined || userId === undefined) return [];
    const receivedMs = use.receivedAt.getTime();
    const usedMs = Math.min(use.timestamp.getTime(), receivedMs);
    return [{ seriesId: series.id, day: series.dayOf(usedMs), userId, usedMs, receivedMs }];
  });
  const sent = tx.raw(COUNT_USES, [
    toPlainArray(rows.map(({ seriesId }) => seriesId)),
    toPlainArray(rows.map(({ day }) => day)),
    toPlainArray(rows.map(({ userId }) => userId)),
    toPlainArray(rows.map(({ usedMs }) => usedMs)),
    toPlainArray(rows.map(({ receivedMs }) => receivedMs)),
  ]);
  return sendWith(undefined, sent);
}

/** All parts see the tables as they were before, so `latest` finds the day before these uses. */
const COUNT_USES = `
  WITH uses AS MATERIALIZED (
    SELECT * FROM unnest(?::int[], ?::date[], ?::bigint[], ?::float8[], ?::float8[])
      AS u (series_id, day, user_id, used_ms, received_ms)
  ), fresh AS (
    INSERT INTO flag_usage_users (user_id, series_id, day)
    SELECT DISTINCT user_id, series_id, day FROM uses
    ON CONFLICT DO NOTHING
    RETURNING user_id, series_id, day
  ), latest AS (
    SELECT f.series_id, max(f.day) AS day,
           (SELECT max(u.day) FROM flag_usage_users u
            WHERE u.user_id = f.user_id AND u.series_id = f.series_id) AS day_before
    FROM fresh f
    GROUP BY f.user_id, f.series_id
  ), changes AS (
    SELECT series_id, day, 1 AS calls, 0 AS users, 0 AS last_seen_users FROM uses
    UNION ALL
    SELECT series_id, day, 0, 1, 0 FROM fresh
    UNION ALL
    SELECT series_id, day, 0, 0, 1 FROM latest WHERE day_before IS NULL OR day > day_before
    UNION ALL
    SELECT series_id, day_before, 0, 0, -1 FROM latest WHERE day > day_before
  ), noted AS (
    UPDATE flag_usage_series AS s
    SET last_used_at = greatest(s.last_used_at, to_timestamp(n.used_ms / 1000)),
        last_received_at = greatest(s.last_received_at, to_timestamp(n.received_ms / 1000))
    FROM (
      SELECT series_id, max(used_ms) AS used_ms, max(received_ms) AS received_ms
      FROM uses GROUP BY series_id
    ) AS n
    WHERE s.id = n.series_id
  )
  INSERT INTO flag_usage_days AS d (series_id, day, calls, users, last_seen_users)
  SELECT series_id, day, sum(calls), sum(users), sum(last_seen_users)
  FROM changes GROUP BY series_id, day
  ON CONFLICT (series_id, day) DO UPDATE
    SET calls = d.calls + excluded.calls,
        users = d.users + excluded.users,
        last_seen_users = d.last_seen_users + excluded.last_seen_users`;

/**
 * Moves what users used to other users, in columns of equal length, and corrects the counts of
 * days on which two of them have become one. Nobody may be on both sides. Needs `lockPersons`.
 */
export async function moveFlagUsers(
  tx: Statements,
  fromIds: readonly number[],
  toIds: readonly number[],
): Promise<void> {
  if (fromIds.length === 0) return;
  await tx.raw(MOVE_USERS, [toPlainArray(fromIds), toPlainArray(toIds)]);
}

const MOVE_USERS = `
  WITH moved AS (
    DELETE FROM flag_usage_users AS u
    USING unnest(?::bigint[], ?::bigint[]) AS m (from_id, to_id)
    WHERE u.user_id = m.from_id
    RETURNING u.user_id AS holder_id, m.to_id, u.series_id, u.day
  ), stored AS (
    INSERT INTO flag_usage_users (user_id, series_id, day)
    SELECT DISTINCT to_id, series_id, day FROM moved
    ON CONFLICT DO NOTHING
  ), held AS (
    SELECT holder_id, to_id, series_id, day FROM moved
    UNION ALL
    SELECT u.user_id, u.user_id, u.series_id, u.day
    FROM (SELECT DISTINCT to_id, series_id FROM moved) AS m
    JOIN flag_usage_users u ON u.user_id = m.to_id AND u.series_id = m.series_id
  ), lasts AS (
    SELECT series_id, day,
           row_number() OVER (PARTITION BY to_id, series_id ORDER BY day DESC) AS place
    FROM (
      SELECT to_id, series_id, max(day) AS day FROM held GROUP BY holder_id, to_id, series_id
    ) AS of_holders
  ), surplus AS (
    SELECT series_id, day, count(*) - 1 AS users, 0 AS last_seen_users
    FROM held GROUP BY to_id, series_id, day
    UNION ALL
    SELECT series_id, day, 0, 1 FROM lasts WHERE place > 1
  )
  UPDATE flag_usage_days AS d
  SET users = d.users - s.users, last_seen_users = d.last_seen_users - s.last_seen_users
  FROM (
    SELECT series_id, day, sum(users) AS users, sum(last_seen_users) AS last_seen_users
    FROM surplus GROUP BY series_id, day
  ) AS s
  WHERE d.series_id = s.series_id AND d.day = s.day AND (s.users > 0 OR s.last_seen_users > 0)`;

/**
 * Forgets that a user used flags: no day counts the user any more. The calls stay, they name
 * nobody. Needs `lockPersons`.
 */
export async function removeFlagUser(tx: Statements, userId: number): Promise<void> {
  await tx.raw(REMOVE_USER, [userId]);
}

const REMOVE_USER = `
  WITH removed AS (
    DELETE FROM flag_usage_users WHERE user_id = ? RETURNING series_id, day
  ), lasts AS (
    SELECT series_id, max(day) AS day FROM removed GROUP BY series_id
  )
  UPDATE flag_usage_days AS d
  SET users = d.users - 1,
      last_seen_users = d.last_seen_users - CASE WHEN d.day = l.day THEN 1 ELSE 0 END
  FROM removed r JOIN lasts l USING (series_id)
  WHERE d.series_id = r.series_id AND d.day = r.day`;

/** The distinct ids that got a person, in columns of equal length. */
export interface AttachedIds {
  readonly projectIds: readonly number[];
  readonly distinctIds: readonly string[];
  readonly personIds: readonly number[];
}

/** Gives what these distinct ids used before they had a person to the persons that they now have. */
export async function adoptVisitorUsage(tx: Statements, attached: AttachedIds): Promise<void> {
  const visitors = await takeVisitors(tx, attached);
  await moveFlagUsers(
    tx,
    visitors.map(({ userId }) => userId),
    visitors.map(({ personId }) => personId),
  );
}
