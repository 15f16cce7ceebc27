import type { Db } from '../database/db.ts';
import type { DashboardRow } from '../database/tables.ts';
import { type Dashboard, TILE_KINDS, type Tile, toDashboard } from './dashboard.ts';

export interface DashboardPage {
  readonly count: number;
  readonly dashboards: readonly Dashboard[];
}

/** One page of the dashboards that are not deleted, newest first, and how many there are. */
export async function listDashboards(
  db: Db,
  projectId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<DashboardPage> {
  const rows: (DashboardRow & { total: number })[] = await db('dashboards')
    .where({ project_id: projectId, deleted: false })
    .select('*', db.raw('count(*) OVER () AS total'))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset);
  // A page behind the end has no row to carry the total.
  const count = rows[0]?.total ?? (page.offset === 0 ? 0 : await countDashboards(db, projectId));
  return { count, dashboards: rows.map(toDashboard) };
}

async function countDashboards(db: Db, projectId: number): Promise<number> {
  const [row] = await db('dashboards')
    .where({ project_id: projectId, deleted: false })
    .count({ total: '*' });
  return Number(row?.total ?? 0);
}

/** The dashboard that is not deleted, or undefined. */
export async function getDashboard(
  db: Db,
  projectId: number,
  id: number,
): Promise<Dashboard | undefined> {
  const row = await db('dashboards').where({ project_id: projectId, id, deleted: false }).first();
  return row === undefined ? undefined : toDashboard(row);
}

/** The tiles of a dashboard in their order. */
export async function listTiles(db: Db, dashboardId: number): Promise<Tile[]> {
  const rows: { id: number; kind: string; flag_key: string }[] = await db('dashboard_tiles')
    .join('feature_flags', 'feature_flags.id', 'dashboard_tiles.flag_id')
    .where({ dashboard_id: dashboardId })
    .orderBy('dashboard_tiles.id')
    .select('dashboard_tiles.id', 'kind', { flag_key: 'feature_flags.key' });
  return rows.flatMap(({ id, kind: text, flag_key: flagKey }) => {
    const kind = TILE_KINDS.find((known) => known === text);
    return kind === undefined ? [] : [{ id, kind, flagKey }];
  });
}

/** The first of these ids that is not a dashboard of the project, or undefined when all are. */
export async function findMissingDashboard(
  db: Db,
  projectId: number,
  ids: readonly number[],
): Promise<number | undefined> {
  if (ids.length === 0) return undefined;
  const known = await db('dashboards')
    .where({ project_id: projectId, deleted: false })
    .whereIn('id', [...new Set(ids)])
    .pluck('id');
  return ids.find((id) => !known.includes(id));
}
