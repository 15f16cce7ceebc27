import type { Tx } from '../database/db.ts';
import { describeUsageDashboard, ENRICHED_TILES, type TileKind, USAGE_TILES } from './dashboard.ts';

/** The flag that a dashboard is about. */
export interface DashboardFlag {
  readonly id: number;
  readonly projectId: number;
  readonly key: string;
  readonly hasEnrichedAnalytics: boolean;
}

/** Creates the usage dashboard of a flag, links the flag to it, and returns its id. */
export async function createUsageDashboard(
  tx: Tx,
  flag: DashboardFlag,
  author: { readonly userId: number | null; readonly now: Date },
): Promise<number> {
  const { name, description } = describeUsageDashboard(flag.key);
  const kinds = flag.hasEnrichedAnalytics ? [...USAGE_TILES, ...ENRICHED_TILES] : USAGE_TILES;
  const result: { rows: { usage_dashboard: number }[] } = await tx.raw(
    `WITH created AS (
       INSERT INTO dashboards (project_id, name, description, creation_mode, created_by, created_at)
       VALUES (?, ?, ?, 'template', ?, ?)
       RETURNING id
     ), tiles AS (
       INSERT INTO dashboard_tiles (dashboard_id, flag_id, kind)
       SELECT id, ?, kind FROM created, unnest(?::text[]) AS kind
     )
     UPDATE feature_flags SET usage_dashboard = (SELECT id FROM created) WHERE id = ?
     RETURNING usage_dashboard`,
    [flag.projectId, name, description, author.userId, author.now, flag.id, [...kinds], flag.id],
  );
  const id = result.rows[0]?.usage_dashboard;
  if (id === undefined) throw new Error('A dashboard was made for a flag that is not there.');
  return id;
}

/** Adds tiles for a flag to a dashboard; those that it has already stay. */
export async function addTiles(
  tx: Tx,
  dashboardId: number,
  flagId: number,
  kinds: readonly TileKind[],
): Promise<void> {
  await tx.raw(
    `INSERT INTO dashboard_tiles (dashboard_id, flag_id, kind)
     SELECT ?, ?, kind FROM unnest(?::text[]) AS kind
     ON CONFLICT DO NOTHING`,
    [dashboardId, flagId, [...kinds]],
  );
}

/** Follows a change of a flag's key: what is still as it was generated is generated again. */
export async function renameUsageDashboard(
  tx: Tx,
  dashboardId: number,
  keyBefore: string,
  key: string,
): Promise<void> {
  const before = describeUsageDashboard(keyBefore);
  const after = describeUsageDashboard(key);
  await tx.raw(
    `UPDATE dashboards
     SET name = CASE WHEN name = :nameBefore THEN :name ELSE name END,
         description =
           CASE WHEN description = :descriptionBefore THEN :description ELSE description END
     WHERE id = :dashboardId`,
    {
      dashboardId,
      nameBefore: before.name,
      name: after.name,
      descriptionBefore: before.description,
      description: after.description,
    },
  );
}
