import { type ActivityKind, type Change, diffFields } from '../../activity/activity.ts';
import { type NewActivity, writeActivities } from '../../activity/activity-writes.ts';
import { invalidField, notFound } from '../../common/refusal.ts';
import { isUniqueViolation } from '../../database/database-error.ts';
import type { Tx } from '../../database/db.ts';
import type { FeatureFlagRow } from '../../database/tables.ts';
import { applyFlagFilters, type FlagFilters } from '../list/flag-filters.ts';
import { describeFlag } from '../list/flags-queries.ts';
import type { DescribedFlag } from '../model/flag.ts';
import { type FeatureFlag, type FeatureFlagInput, toFlag } from '../model/flag-fields.ts';
import { renameDashboard, withUsageDashboard } from './flag-dashboards.ts';
import { toRow } from './flag-row.ts';
import { loggedFields } from './logged-fields.ts';

/** Who writes to which project. */
export interface Author {
  readonly projectId: number;
  readonly userId: number | null;
}

export const ACTIVITY_SCOPE = 'FeatureFlag';

const KEY_INDEX = 'feature_flags_project_key';

/** The flag, deleted or not, locked until the transaction ends. Throws 404. */
export async function lockFlag(tx: Tx, projectId: number, id: number): Promise<FeatureFlag> {
  const row = await tx('feature_flags').where({ project_id: projectId, id }).forUpdate().first();
  if (row === undefined) throw notFound();
  return toFlag(row);
}

/** Those of the flags that are in the project and not deleted, locked until the transaction ends. */
export async function lockFlags(
  tx: Tx,
  projectId: number,
  ids: readonly number[],
): Promise<FeatureFlag[]> {
  const rows = await tx('feature_flags')
    .where({ project_id: projectId, deleted: false })
    .whereRaw('id = ANY(?::bigint[])', [[...ids]])
    .orderBy('id')
    .forUpdate();
  return rows.map(toFlag);
}

/** The flags of the project that pass the filters, locked until the transaction ends. */
export async function lockMatchingFlags(
  tx: Tx,
  projectId: number,
  filters: FlagFilters,
  now: Date,
): Promise<FeatureFlag[]> {
  const rows: FeatureFlagRow[] = await tx('feature_flags')
    .where({ project_id: projectId, deleted: false })
    .modify((query) => applyFlagFilters(query, filters, now))
    .orderBy('id')
    .forUpdate();
  return rows.map(toFlag);
}

/**
 * Stores a new flag, already checked, with version 1, its activity row and its usage dashboard. What
 * follows from the row goes in one round trip.
 */
export async function insertFlag(
  tx: Tx,
  author: Author,
  input: FeatureFlagInput & { readonly key: string },
  now: Date,
): Promise<DescribedFlag> {
  const [row] = await tx('feature_flags')
    .insert({
      created_at: now,
      ...toRow(input),
      project_id: author.projectId,
      created_by: author.userId,
      last_modified_by: author.userId,
      updated_at: now,
    })
    .returning('*')
    .catch(rethrowWrite);
  const after = toFlag(requireRow(row));
  const [flag, described] = await Promise.all([
    withUsageDashboard(tx, after),
    describeFlag(tx, after),
    finishWrites(tx, author, [{ before: null, after }]),
  ]);
  return { ...described, flag };
}

/** Stores a change, already checked, raises the version and writes the activity row. */
export async function changeFlag(
  tx: Tx,
  author: Author,
  before: FeatureFlag,
  input: FeatureFlagInput,
  now: Date,
): Promise<DescribedFlag> {
  const [row] = await tx('feature_flags')
    .where({ id: before.id })
    .update({
      ...toRow(input),
      version: before.version + 1,
      last_modified_by: author.userId,
      updated_at: now,
    })
    .returning('*')
    .catch(rethrowWrite);
  const after = toFlag(requireRow(row));
  const [described] = await Promise.all([
    describeFlag(tx, after),
    finishWrites(tx, author, [{ before, after }]),
    renameDashboard(tx, before, after),
  ]);
  return described;
}

/** A change of one flag among several. */
export interface BulkChange {
  readonly before: FeatureFlag;
  readonly deleted: boolean;
  readonly tags: readonly string[];
}

/**
 * Stores changes of several flags, already checked, as `changeFlag` does, in one statement for all.
 * Returns them in the order of the changes.
 */
export async function changeFlags(
  tx: Tx,
  author: Author,
  changes: readonly BulkChange[],
  now: Date,
): Promise<FeatureFlag[]> {
  const values = changes.map(({ before, deleted, tags }) => ({ id: before.id, deleted, tags }));
  const { rows }: { rows: FeatureFlagRow[] } = await tx.raw(
    `UPDATE feature_flags AS flag
     SET deleted = change.deleted,
       tags = ARRAY(SELECT jsonb_array_elements_text(change.tags)),
       version = flag.version + 1,
       last_modified_by = ?::integer,
       updated_at = ?::timestamptz
     FROM jsonb_to_recordset(?::jsonb) AS change (id integer, deleted boolean, tags jsonb)
     WHERE flag.id = change.id
     RETURNING flag.*`,
    [author.userId, now, JSON.stringify(values)],
  );
  const written = new Map(rows.map((row) => [row.id, row]));
  const writes = changes.map(({ before }) => ({
    before,
    after: toFlag(requireRow(written.get(before.id))),
  }));
  await finishWrites(tx, author, writes);
  return writes.map(({ after }) => after);
}

/** A flag as it was, null when it is new, and as it is now. */
interface FlagWrite {
  readonly before: FeatureFlag | null;
  readonly after: FeatureFlag;
}

/**
 * Everything that goes with written flags, in their transaction: the activity rows, and whatever
 * else has to follow a flag that was created or changed. Every write of a flag ends here.
 */
async function finishWrites(tx: Tx, author: Author, writes: readonly FlagWrite[]): Promise<void> {
  await writeActivities(
    tx,
    writes.map((write) => toActivity(author, write)),
  );
}

function toActivity(author: Author, { before, after }: FlagWrite): NewActivity {
  return {
    projectId: author.projectId,
    userId: author.userId,
    activity: kindOfChange(before, after),
    scope: ACTIVITY_SCOPE,
    itemId: String(after.id),
    name: after.key,
    changes: before === null ? [] : changesBetween(before, after),
  };
}

function requireRow(row: FeatureFlagRow | undefined): FeatureFlagRow {
  if (row === undefined) throw new Error('The database returned no row for a written flag.');
  return row;
}

function changesBetween(before: FeatureFlag, after: FeatureFlag): Change[] {
  const isSecret = before.hasEncryptedPayloads || after.hasEncryptedPayloads;
  return diffFields(ACTIVITY_SCOPE, loggedFields(before, isSecret), loggedFields(after, isSecret));
}

function kindOfChange(before: FeatureFlag | null, after: FeatureFlag): ActivityKind {
  if (before === null) return 'created';
  if (before.deleted === after.deleted) return 'updated';
  return after.deleted ? 'deleted' : 'restored';
}

function rethrowWrite(error: unknown): never {
  if (!isUniqueViolation(error, KEY_INDEX)) throw error;
  throw invalidField('key', 'There is already a feature flag with this key.', 'unique');
}
