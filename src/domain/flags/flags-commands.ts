import { type ActivityKind, diffFields } from '../activity/activity.ts';
import { writeActivity } from '../activity/activity-writes.ts';
import { isUniqueViolation } from '../database/database-error.ts';
import type { Tx } from '../database/db.ts';
import { type DomainError, invalidField, notFound } from '../errors.ts';
import type { CompilePattern } from '../evaluation/definitions.ts';
import type { JsonObject } from '../json.ts';
import { changeProject, type ProjectChanges } from '../projects/change-project.ts';
import {
  type FeatureFlag,
  type FeatureFlagInput,
  type FeatureFlagWithUsers,
  toFlag,
} from './flag.ts';
import { loggedFields, toColumns } from './flag-fields.ts';
import { withUsers } from './flags-queries.ts';
import { normaliseFilters, requireCondition, validateFilters } from './validate-filters.ts';
import { validateFlagFields } from './validate-flag.ts';

/** What the commands on flags need. */
export interface FlagCommandsContext extends ProjectChanges {
  readonly compilePattern: CompilePattern;
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
  const filters = prepareFilters(input.filters ?? { groups: [] }, context.compilePattern);
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
    const merged =
      input.filters === undefined ? undefined : { ...before.filters, ...input.filters };
    const filters =
      merged === undefined ? {} : { filters: prepareFilters(merged, context.compilePattern) };
    const [row] = await tx('feature_flags')
      .where({ id })
      .update({
        ...toRow({ ...input, ...filters }),
        ...(input.active === true ? { performed_rollback: false } : {}),
        version: before.version + 1,
        last_modified_by: author.userId,
        updated_at: context.now(),
      })
      .returning('*')
      .catch(rethrowWrite);
    if (row === undefined) throw new Error('The database returned no row for a changed flag.');
    const after = toFlag(row);
    const changes = diffFields(ACTIVITY_SCOPE, loggedFields(before), loggedFields(after));
    await logChange(tx, author, after, kindOfChange(before, after), changes);
    return describe(tx, after);
  });
}

function prepareFilters(filters: JsonObject, compilePattern: CompilePattern): JsonObject {
  const normalised = normaliseFilters(filters);
  validateFilters(normalised, compilePattern);
  return normalised;
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
