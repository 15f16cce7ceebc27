import { invalidField, notFound } from '../common/refusal.ts';
import { toRefusal } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import type { FeatureFlagRow } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { hasFeatureViews } from '../usage/flags/flag-usage-queries.ts';
import { type Dashboard, ENRICHED_TILES, toDashboard } from './dashboard.ts';
import { getDashboard, listTiles } from './dashboards-queries.ts';
import { addTiles, createUsageDashboard } from './dashboards-writes.ts';

/** What the commands on dashboards need. Nothing that is evaluated changes with them. */
export interface DashboardCommandsContext {
  readonly db: Db;
  readonly now: () => Date;
}

/** What a client may write. Absent fields are left alone. */
export interface DashboardInput {
  readonly name?: string;
  readonly description?: string;
  readonly deleted?: boolean;
}

/** The flag whose dashboard is meant. */
export interface FlagAddress {
  readonly projectId: number;
  readonly flagId: number;
}

/** Changes a dashboard, also whether it is deleted. Throws 404; a deleted one can be restored only. */
export async function updateDashboard(
  { db }: DashboardCommandsContext,
  projectId: number,
  id: number,
  input: DashboardInput,
): Promise<Dashboard> {
  const found = db('dashboards').where({ project_id: projectId, id });
  if (input.deleted !== false) found.andWhere({ deleted: false });
  const hasChanges = Object.values(input).some((value) => value !== undefined);
  const rows = hasChanges ? await found.update({ ...input }).returning('*') : await found;
  const [row] = rows;
  if (row === undefined) throw notFound();
  return toDashboard(row);
}

/** Makes sure that the flag has a usage dashboard. Throws 404, or 400 for a deleted flag. */
export async function ensureUsageDashboard(
  context: DashboardCommandsContext,
  { projectId, flagId }: FlagAddress,
  userId: number | null,
): Promise<void> {
  await changeDashboardOf(context, { projectId, flagId }, async (tx, flag) => {
    if (flag.deleted) {
      throw invalidField(
        null,
        'This feature flag has been deleted. Restore it before generating a usage dashboard.',
      );
    }
    if ((await findUsageDashboard(tx, flag)) !== undefined) return;
    const about = {
      id: flag.id,
      projectId,
      key: flag.key,
      hasEnrichedAnalytics: flag.has_enriched_analytics,
    };
    await createUsageDashboard(tx, about, { userId, now: context.now() });
  });
}

/**
 * Adds the tiles about views of a feature to the flag's usage dashboard. Throws 404, or 400 when
 * there is no dashboard, when it has them already, or when no view was ever reported.
 */
export async function enrichUsageDashboard(
  context: DashboardCommandsContext,
  address: FlagAddress,
): Promise<void> {
  await changeDashboardOf(context, address, async (tx, flag) => {
    const dashboard = await findUsageDashboard(tx, flag);
    if (dashboard === undefined) throw invalidField(null, 'Usage dashboard not found');
    const kinds = (await listTiles(tx, dashboard.id)).map(({ kind }) => kind);
    if (ENRICHED_TILES.every((kind) => kinds.includes(kind))) {
      throw invalidField(null, 'Usage dashboard already has enriched data');
    }
    const isEnriched =
      flag.has_enriched_analytics || (await hasFeatureViews(tx, flag.project_id, flag.key));
    if (!isEnriched) {
      throw invalidField(null, 'No enriched analytics available for this feature flag');
    }
    await addTiles(tx, dashboard.id, flag.id, ENRICHED_TILES);
  });
}

/** Locks the flag, so that two concurrent requests create one dashboard. */
async function changeDashboardOf(
  { db }: DashboardCommandsContext,
  { projectId, flagId }: FlagAddress,
  change: (tx: Tx, flag: FeatureFlagRow) => Promise<void>,
): Promise<void> {
  await transaction(db, LIMITS.configuration, async (tx) => {
    const flag = await tx('feature_flags')
      .where({ project_id: projectId, id: flagId })
      .forUpdate()
      .first();
    if (flag === undefined) throw notFound();
    await change(tx, flag);
  }).catch((error: unknown) => {
    throw toRefusal(error);
  });
}

async function findUsageDashboard(tx: Tx, flag: FeatureFlagRow): Promise<Dashboard | undefined> {
  if (flag.usage_dashboard === null) return undefined;
  return getDashboard(tx, flag.project_id, flag.usage_dashboard);
}
