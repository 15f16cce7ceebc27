import { type LoggedVersion, readLoggedVersion } from '../../activity/activity-history-queries.ts';
import { invalidField, notFound, Refusal } from '../../common/refusal.ts';
import type { Db } from '../../database/db.ts';
import { LIMITS } from '../../database/deadlines.ts';
import type { FeatureFlagRow } from '../../database/tables.ts';
import { readConsistently } from '../../database/transaction.ts';
import { describeFlags } from '../list/flags-queries.ts';
import type { DescribedFlag } from '../model/flag.ts';
import { toFlag } from '../model/flag-fields.ts';
import { ACTIVITY_SCOPE } from './flags-writes.ts';
import { toLoggedColumns } from './logged-fields.ts';

/** A flag as it was in one of its versions. */
export interface FlagVersion {
  readonly described: DescribedFlag;
  readonly isHistorical: boolean;
  readonly writtenAt: Date;
  readonly modifiedById: number | null;
}

/**
 * The flag as of a version, rebuilt from the activity log. What is not logged, like the dashboards
 * of the flag, is as it is now. Throws 404, 400 for a flag with secret payloads, which
 * the log does not have, and 422 when entries are missing.
 */
export async function getFlagVersion(
  db: Db,
  projectId: number,
  id: number,
  version: number,
): Promise<FlagVersion> {
  // One snapshot for all that is asked, so that a change in between cannot mix two versions.
  return readConsistently(db, LIMITS.consistentRead, async (tx) => {
    const row = await tx('feature_flags').where({ project_id: projectId, id }).first();
    if (row === undefined) throw notFound();
    if (version > row.version) {
      throw notFound(`Version ${version} not found (current version is ${row.version})`);
    }
    const item = { projectId, scope: ACTIVITY_SCOPE, itemId: String(id) };
    const logged = await readLoggedVersion(tx, item, version);
    if (
      row.has_encrypted_payloads ||
      Object.hasOwn(logged.changedSince, 'has_encrypted_payloads')
    ) {
      throw invalidField(
        null,
        'Version history is not available for flags with encrypted payloads.',
      );
    }
    return rebuild(tx, row, logged, version);
  });
}

async function rebuild(
  db: Db,
  row: FeatureFlagRow,
  logged: LoggedVersion,
  version: number,
): Promise<FlagVersion> {
  const isHistorical = version !== row.version;
  // The stored version is known even when nothing was logged.
  const written = isHistorical
    ? logged.written
    : { at: row.updated_at, userId: row.last_modified_by };
  if (written === null || logged.laterVersions !== row.version - version) {
    throw new Refusal(
      'unprocessable',
      `Activity log is incomplete. Cannot reconstruct version ${version}.`,
    );
  }
  const past = {
    ...toLoggedColumns(logged.changedSince),
    version,
    updated_at: written.at,
    last_modified_by: written.userId,
  };
  const { rows }: { rows: FeatureFlagRow[] } = await db.raw(
    `SELECT (jsonb_populate_record(flag, ?::jsonb)).* FROM feature_flags AS flag WHERE id = ?`,
    [JSON.stringify(past), row.id],
  );
  const [described] = await describeFlags(db, rows.map(toFlag));
  if (described === undefined) throw new Error('A flag got lost while a version was rebuilt.');
  return { described, isHistorical, writtenAt: written.at, modifiedById: written.userId };
}
