import type { Db } from '../database/db.ts';
import { readFlagUsage, type VariantUsage } from '../usage/flags/flag-usage-queries.ts';
import { FEATURE_INTERACTION, FEATURE_VIEW, FLAG_CALLED } from '../usage/flags/flag-use.ts';
import { dayOfZone, listDaysUntil } from '../usage/flags/project-day.ts';
import type { Tile, TileKind } from './dashboard.ts';

/** Thirty days back from today, as `-30d` counts. */
const DAYS_SHOWN = 31;

/** One line of a chart, or one row of a table. */
export interface TrendSeries {
  readonly label: string;
  readonly breakdownValue: string | null;
  /** The sum of `data`. */
  readonly count: number;
  readonly data: readonly number[];
  readonly days: readonly string[];
  /** Different users over all days; null where calls are counted. */
  readonly aggregatedValue: number | null;
}

const EVENTS: Readonly<Record<TileKind, string>> = {
  calls: FLAG_CALLED,
  unique_users: FLAG_CALLED,
  feature_views: FEATURE_VIEW,
  feature_interactions: FEATURE_INTERACTION,
};

/** What the tiles show today in the project's timezone, by the tile's id, in one query. */
export async function readTileResults(
  db: Db,
  project: { readonly id: number; readonly timezone: string },
  tiles: readonly Tile[],
  now: Date,
): Promise<ReadonlyMap<number, readonly TrendSeries[]>> {
  const days = listDaysUntil(dayOfZone(project.timezone)(now.getTime()), DAYS_SHOWN);
  const usage = await readFlagUsage(db, {
    projectId: project.id,
    flagKeys: [...new Set(tiles.map(({ flagKey }) => flagKey))],
    events: [...new Set(tiles.map(({ kind }) => EVENTS[kind]))],
    firstDay: days[0] ?? '',
  });
  return new Map(
    tiles.map((tile) => {
      const own = usage.filter(
        ({ flagKey, event }) => flagKey === tile.flagKey && event === EVENTS[tile.kind],
      );
      return [tile.id, own.flatMap((each) => toSeries(tile.kind, each, days))];
    }),
  );
}

function toSeries(kind: TileKind, usage: VariantUsage, days: readonly string[]): TrendSeries[] {
  const { variant } = usage;
  switch (kind) {
    case 'calls':
      return [{ label: variant, breakdownValue: variant, ...toCalls(usage, days) }];
    case 'unique_users':
      return [{ label: variant, breakdownValue: variant, ...toUsers(usage, days) }];
    case 'feature_views':
    case 'feature_interactions':
      return [
        { label: 'Total', breakdownValue: null, ...toCalls(usage, days) },
        { label: 'Unique users', breakdownValue: null, ...toUsers(usage, days) },
      ];
  }
}

function toCalls({ callsByDay }: VariantUsage, days: readonly string[]) {
  return { ...toData(callsByDay, days), aggregatedValue: null };
}

function toUsers({ usersByDay, users }: VariantUsage, days: readonly string[]) {
  return { ...toData(usersByDay, days), aggregatedValue: users };
}

function toData(byDay: ReadonlyMap<string, number>, days: readonly string[]) {
  const data = days.map((day) => byDay.get(day) ?? 0);
  return { data, days, count: data.reduce((sum, value) => sum + value, 0) };
}
