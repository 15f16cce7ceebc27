import { type ActivityKind, diffFields } from '../activity/activity.ts';
import { writeActivity } from '../activity/activity-writes.ts';
import { isUniqueViolation } from '../database/database-error.ts';
import type { Tx } from '../database/db.ts';
import { type DomainError, invalidField, notFound } from '../errors.ts';
import type { CompilePattern } from '../evaluation/definitions.ts';
import type { JsonObject } from '../json.ts';
import { changeProject, type ProjectChanges } from '../projects/change-project.ts';
import { openPayloads, sealPayloads } from './encrypted-payloads.ts';
import {
  type FeatureFlag,
  type FeatureFlagInput,
  type FeatureFlagWithUsers,
  toFlag,
} from './flag.ts';
import { loggedFields, toColumns } from './flag-fields.ts';
import { withUsers } from './flags-queries.ts';
import type { PayloadCipher } from './payload-encryption.ts';
import { normaliseFilters, requireCondition, validateFilters } from './validate-filters.ts';
import { validateFlagFields } from './validate-flag.ts';

/** What the commands on flags need. */
export interface FlagCommandsContext extends ProjectChanges {
  readonly compilePattern: CompilePattern;
  /** Null when there is no encryption key; then no secret payload can be written or read. */
  readonly payloadCipher: PayloadCipher | null;
  readonly now: () => Date;
}

/** Who writes to which project. */
export interface Author {
  readonly projectId: number;
  readonly userId: number | null;
}

export const ACTIVITY_SCOPE = 'FeatureFlag';

const KEY_INDEX = 'feature_flags_project_key';

const NEW_FLAG = {
  tags: [],
  bucketingIdentifier: 'distinct_id',
  ensureExperienceContinuity: false,
};

/**
 * Creates a flag with version 1 and its activity row. A flag without `filters` has no condition and
 * is false for everybody. Throws 400 on the field that breaks a rule.
 */
export async function createFlag(
  context: FlagCommandsContext,
  author: Author,
  input: FeatureFlagInput & { readonly key: string },
): Promise<FeatureFlagWithUsers> {
  validateFlagFields(input, NEW_FLAG);
  if (input.filters !== undefined) requireCondition(input.filters);
  const filters = prepareFilters(context, null, input) ?? { groups: [] };
  return changeProject(context, author.projectId, async (tx) => {
    const now = context.now();
    const [row] = await tx('feature_flags')
      .insert({
        created_at: now,
        ...toRow({ ...input, filters }),
        ...(input.active === true ? { performed_rollback: false } : {}),
        project_id: author.projectId,
        created_by: author.userId,
        last_modified_by: author.userId,
        updated_at: now,
      })
      .returning('*')
      .catch(rethrowWrite);
    if (row === undefined) throw new Error('The database returned no row for a new flag.');
    const flag = toFlag(row);
    await logChange(tx, author, flag, 'created', []);
    return describe(tx, flag);
  });
}

/**
 * Changes the fields that the input has, raises the version and writes the activity row, under a
 * lock on the flag. `filters` is merged by top-level key. Throws 404 or 400.
 */
export async function updateFlag(
  context: FlagCommandsContext,
  author: Author,
  id: number,
  input: FeatureFlagInput,
): Promise<FeatureFlagWithUsers> {
  return changeProject(context, author.projectId, async (tx) => {
    const before = await lockFlag(tx, author.projectId, id);
    validateFlagFields(input, before);
    const filters = prepareFilters(context, before, input);
    const [row] = await tx('feature_flags')
      .where({ id })
      .update({
        ...toRow(filters === null ? input : { ...input, filters }),
        ...(input.active === true ? { performed_rollback: false } : {}),
        version: before.version + 1,
        last_modified_by: author.userId,
        updated_at: context.now(),
      })
      .returning('*')
      .catch(rethrowWrite);
    if (row === undefined) throw new Error('The database returned no row for a changed flag.');
    const after = toFlag(row);
    const isSecret = before.hasEncryptedPayloads || after.hasEncryptedPayloads;
    const changes = diffFields(
      ACTIVITY_SCOPE,
      loggedFields(before, isSecret),
      loggedFields(after, isSecret),
    );
    await logChange(tx, author, after, kindOfChange(before, after), changes);
    return describe(tx, after);
  });
}

/**
 * The filters to store: merged, checked, and with secret payloads sealed. Null when the write leaves
 * them as they are.
 */
function prepareFilters(
  context: FlagCommandsContext,
  before: FeatureFlag | null,
  input: FeatureFlagInput,
): JsonObject | null {
  const isEncrypted = input.hasEncryptedPayloads ?? before?.hasEncryptedPayloads ?? false;
  const isRemoteConfiguration =
    input.isRemoteConfiguration ?? before?.isRemoteConfiguration ?? false;
  const wasEncrypted = before?.hasEncryptedPayloads ?? false;
  const isAllowed = isRemoteConfiguration || !isEncrypted;
  const isUntouched = input.filters === undefined && isEncrypted === wasEncrypted && isAllowed;
  if (isUntouched) return null;
  // The rules look at payloads as clients see them, so ciphertexts are covered by their marker.
  const stored = before === null ? { groups: [] } : openPayloads(before, null);
  const filters = normaliseFilters({ ...stored, ...input.filters });
  validateFilters(filters, context.compilePattern);
  return sealPayloads(
    {
      filters,
      isEncrypted,
      isRemoteConfiguration,
      before,
      hasSentFilters: input.filters !== undefined,
    },
    context.payloadCipher,
  );
}

function toRow(input: FeatureFlagInput) {
  const { filters, rollback_conditions: rollback, ...columns } = toColumns(input);
  return {
    ...columns,
    ...(filters === undefined ? {} : { filters: JSON.stringify(filters) }),
    ...(rollback === undefined ? {} : { rollback_conditions: JSON.stringify(rollback) }),
  };
}

async function lockFlag(tx: Tx, projectId: number, id: number): Promise<FeatureFlag> {
  const row = await tx('feature_flags').where({ project_id: projectId, id }).forUpdate().first();
  if (row === undefined) throw notFound();
  return toFlag(row);
}

function kindOfChange(before: FeatureFlag, after: FeatureFlag): ActivityKind {
  if (before.deleted === after.deleted) return 'updated';
  return after.deleted ? 'deleted' : 'restored';
}

async function logChange(
  tx: Tx,
  author: Author,
  flag: FeatureFlag,
  activity: ActivityKind,
  changes: ReturnType<typeof diffFields>,
): Promise<void> {
  await writeActivity(tx, {
    projectId: author.projectId,
    userId: author.userId,
    activity,
    scope: ACTIVITY_SCOPE,
    itemId: String(flag.id),
    name: flag.key,
    changes,
  });
}

async function describe(tx: Tx, flag: FeatureFlag): Promise<FeatureFlagWithUsers> {
  const [described] = await withUsers(tx, [flag]);
  if (described === undefined) throw new Error('A flag got lost while its users were looked up.');
  return described;
}

function rethrowWrite(error: unknown): never {
  throw isUniqueViolation(error, KEY_INDEX) ? keyTaken() : error;
}

function keyTaken(): DomainError {
  return invalidField('key', 'There is already a feature flag with this key.', 'unique');
}
