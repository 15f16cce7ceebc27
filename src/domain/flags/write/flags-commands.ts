import type { Tx } from '../../database/db.ts';
import { changeProject, type ProjectChanges } from '../../projects/change-project.ts';
import { describeFlag } from '../list/flags-queries.ts';
import type { DescribedFlag } from '../model/flag.ts';
import type { FeatureFlag, FeatureFlagInput } from '../model/flag-fields.ts';
import { requireRoom } from '../rules/flag-limits.ts';
import { mergeEvaluationContexts } from '../rules/merge-evaluation-contexts.ts';
import {
  type FiltersContext,
  prepareFilters,
  prepareNewFilters,
} from '../rules/prepare-filters.ts';
import { validateFlagFields } from '../rules/validate-flag.ts';
import { validateReferences } from '../rules/validate-references.ts';
import { validateTransitions } from '../rules/validate-transitions.ts';
import { type EditBasis, resolveConflicts } from './flag-conflicts.ts';
import { validateDashboards } from './flag-dashboards.ts';
import { type Author, changeFlag, insertFlag, lockFlag } from './flags-writes.ts';

/** What the commands on flags need. */
export interface FlagCommandsContext extends ProjectChanges, FiltersContext {
  readonly now: () => Date;
}

const NEW_FLAG = {
  bucketingIdentifier: 'distinct_id',
  ensureExperienceContinuity: false,
};

/**
 * Creates a flag with version 1 and its activity row. A flag without `filters` has no condition and
 * is false for everybody; a remote configuration without a condition is for everybody. Throws 400 on
 * the field that breaks a rule.
 */
export async function createFlag(
  context: FlagCommandsContext,
  author: Author,
  input: FeatureFlagInput & { readonly key: string },
): Promise<DescribedFlag> {
  const merged = mergeEvaluationContexts(input, []);
  validateFlagFields(merged, NEW_FLAG);
  const filters = prepareNewFilters(context, merged);
  const { projectId } = author;
  return changeProject(context, projectId, async (tx) => {
    await requireRoom(tx, projectId, context.limits);
    await validateReferences(tx, { projectId, id: null, key: input.key }, filters);
    await validateDashboards(tx, projectId, merged, []);
    const flag = { ...merged, key: input.key, filters };
    return insertFlag(tx, author, flag, context.now());
  });
}

/**
 * Changes the fields that the input has, raises the version and writes the activity row, under a
 * lock on the flag. `filters` is merged by top-level key. With a `basis`, what somebody else changed
 * in the meantime is not overwritten. Throws 404, 400 or 409.
 */
export async function updateFlag(
  context: FlagCommandsContext,
  author: Author,
  id: number,
  input: FeatureFlagInput,
  basis: EditBasis = {},
): Promise<DescribedFlag> {
  return changeProject(context, author.projectId, async (tx) => {
    const before = await lockFlag(tx, author.projectId, id);
    const resolved = await resolveConflicts(tx, before, input, basis, context.payloadCipher);
    return applyChange(tx, context, author, before, resolved);
  });
}

/**
 * Enables or disables a flag. Nothing is written when it is so already. Null for a deleted flag,
 * which has to be restored first. Throws 404 or 400.
 */
export async function setFlagActive(
  context: FlagCommandsContext,
  author: Author,
  id: number,
  active: boolean,
): Promise<DescribedFlag | null> {
  return changeProject(context, author.projectId, async (tx) => {
    const before = await lockFlag(tx, author.projectId, id);
    if (before.deleted) return null;
    if (before.active === active) return describeFlag(tx, before);
    return applyChange(tx, context, author, before, { active });
  });
}

/** Checks a change against every rule and stores it. */
async function applyChange(
  tx: Tx,
  context: FlagCommandsContext,
  author: Author,
  before: FeatureFlag,
  input: FeatureFlagInput,
): Promise<DescribedFlag> {
  const { projectId } = author;
  const merged = mergeEvaluationContexts(input, before.evaluationTags);
  validateFlagFields(merged, before);
  const filters = prepareFilters(context, before, merged);
  if (before.deleted && merged.deleted === false) {
    await requireRoom(tx, projectId, context.limits);
  }
  const subject = { projectId, id: before.id, key: merged.key ?? before.key };
  const areFiltersNew = filters !== null && merged.filters !== undefined;
  if (areFiltersNew) await validateReferences(tx, subject, filters);
  await validateTransitions(tx, before, merged, filters ?? before.filters);
  // What it refers to may have been deleted while the flag was not evaluated.
  if (!areFiltersNew && becomesActive(before, merged)) {
    await validateReferences(tx, subject, before.filters);
  }
  await validateDashboards(tx, projectId, merged, before.analyticsDashboards);
  const change = filters === null ? merged : { ...merged, filters };
  return changeFlag(tx, author, before, change, context.now());
}

/** Whether the flag is evaluated after the change and was not before. */
function becomesActive(before: FeatureFlag, { active, deleted }: FeatureFlagInput): boolean {
  const isActive = (active ?? before.active) && !(deleted ?? before.deleted);
  return isActive && (!before.active || before.deleted);
}
