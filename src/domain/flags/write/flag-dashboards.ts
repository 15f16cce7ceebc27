import { invalidField } from '../../common/refusal.ts';
import { findMissingDashboard } from '../../dashboards/dashboards-queries.ts';
import { createUsageDashboard, renameUsageDashboard } from '../../dashboards/dashboards-writes.ts';
import type { Tx } from '../../database/db.ts';
import type { FeatureFlag, FeatureFlagInput } from '../model/flag-fields.ts';

/** Refuses dashboards that the project does not have, unless the flag is linked to them already. */
export async function validateDashboards(
  tx: Tx,
  projectId: number,
  input: FeatureFlagInput,
  linked: readonly number[],
): Promise<void> {
  const added = (input.analyticsDashboards ?? []).filter((id) => !linked.includes(id));
  const missing = await findMissingDashboard(tx, projectId, added);
  if (missing === undefined) return;
  throw invalidField(
    'analytics_dashboards',
    `Invalid pk "${missing}" - object does not exist.`,
    'does_not_exist',
  );
}

/** The new flag, with a usage dashboard unless its creator wants none. */
export async function withUsageDashboard(tx: Tx, flag: FeatureFlag): Promise<FeatureFlag> {
  if (!flag.shouldCreateUsageDashboard) return flag;
  const author = { userId: flag.createdById, now: flag.updatedAt };
  return { ...flag, usageDashboard: await createUsageDashboard(tx, flag, author) };
}

/** Lets the usage dashboard follow a change of the flag's key. */
export async function renameDashboard(
  tx: Tx,
  before: FeatureFlag,
  after: FeatureFlag,
): Promise<void> {
  if (before.key === after.key || after.usageDashboard === null) return;
  await renameUsageDashboard(tx, after.usageDashboard, before.key, after.key);
}
