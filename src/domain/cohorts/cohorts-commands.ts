import { type ActivityKind, diffFields } from '../activity/activity.ts';
import type { JsonObject } from '../common/json.ts';
import { invalidField, notFound } from '../common/refusal.ts';
import type { Tx } from '../database/db.ts';
import type { CompilePattern } from '../evaluation/model/definitions.ts';
import { changeProject, type ProjectChanges } from '../projects/change-project.ts';
import {
  type Cohort,
  type CohortInput,
  type DescribedCohort,
  loggedFields,
  toCohort,
} from './cohort.ts';
import { describeCohorts, findCohortUsers, listCohortIdsAbove } from './cohorts-queries.ts';
import {
  COHORT_ACTIVITY_SCOPE,
  type CohortAuthor,
  logCohortChange,
  requestCount,
} from './cohorts-writes.ts';
import { hasConditions, unknownCohort, validateDefinition } from './validate-cohort.ts';

/** What the commands on cohorts need. */
export interface CohortCommandsContext extends ProjectChanges {
  readonly compilePattern: CompilePattern;
  /** Called after a commit that added background jobs. */
  readonly onJobsAdded: () => void;
}

/** How many flags or cohorts that use a cohort an error names. */
const NAMED_MAX = 5;

/** Creates a cohort: a dynamic one from its filters, a static one without members. */
export async function createCohort(
  context: CohortCommandsContext,
  author: CohortAuthor,
  input: CohortInput & { readonly name: string },
): Promise<DescribedCohort> {
  const isStatic = input.isStatic === true;
  const definition = { filters: input.filters ?? null, groups: input.groups ?? [] };
  if (isStatic) refuseConditions(input);
  const created = await changeProject(context, author.projectId, async (tx) => {
    if (!isStatic) await validateReferences(context, tx, author.projectId, null, definition);
    const [row] = await tx('cohorts')
      .insert({
        project_id: author.projectId,
        name: input.name,
        description: input.description ?? '',
        is_static: isStatic,
        cohort_type: isStatic ? 'static' : 'person_property',
        filters: isStatic ? null : toJsonText(definition.filters),
        groups: JSON.stringify(isStatic ? [] : definition.groups),
        deleted: input.deleted ?? false,
        created_by: author.userId,
        ...(isStatic ? { count: 0 } : {}),
      })
      .returning('*');
    if (row === undefined) throw new Error('The database returned no row for a new cohort.');
    const cohort = toCohort(row);
    await logCohortChange(tx, author, cohort, 'created', []);
    await recount(tx, cohort);
    return describe(tx, cohort);
  });
  context.onJobsAdded();
  return created;
}

/**
 * Changes the fields that the input has, under a lock on the cohort. New filters are evaluated at
 * once and counted in the background, like those of every cohort that contains this one.
 */
export async function updateCohort(
  context: CohortCommandsContext,
  author: CohortAuthor,
  id: number,
  input: CohortInput,
): Promise<DescribedCohort> {
  const changed = await changeProject(context, author.projectId, async (tx) => {
    const before = await lockCohort(tx, author.projectId, id);
    await checkChange(context, tx, before, input);
    const [row] = await tx('cohorts').where({ id }).update(toColumns(before, input)).returning('*');
    if (row === undefined) throw new Error('The database returned no row for a changed cohort.');
    const after = toCohort(row);
    const changes = diffFields(COHORT_ACTIVITY_SCOPE, loggedFields(before), loggedFields(after));
    await logCohortChange(tx, author, after, kindOfChange(before, after), changes);
    const isRedefined = changes.some(({ field }) =>
      ['filters', 'groups', 'deleted'].includes(field),
    );
    if (isRedefined) await recount(tx, after);
    return describe(tx, after);
  });
  context.onJobsAdded();
  return changed;
}

async function checkChange(
  context: CohortCommandsContext,
  tx: Tx,
  before: Cohort,
  input: CohortInput,
): Promise<void> {
  if (input.isStatic !== undefined && input.isStatic !== before.isStatic) {
    throw invalidField('is_static', 'Whether a cohort is static cannot be changed.');
  }
  if (input.deleted === true && !before.deleted) await refuseUsed(tx, before);
  if (before.isStatic) {
    refuseConditions(input);
    return;
  }
  const isRestored = input.deleted === false && before.deleted;
  if (input.filters === undefined && input.groups === undefined && !isRestored) return;
  const definition = definitionAfter(before, input);
  await validateReferences(context, tx, before.projectId, before.id, definition);
}

function refuseConditions(input: CohortInput): void {
  if (hasConditions(input.filters) || (input.groups ?? []).length > 0) {
    const attr = hasConditions(input.filters) ? 'filters' : 'groups';
    throw invalidField(attr, 'A static cohort is a list of persons and has no filters.');
  }
}

/** Filters that are sent alone take the place of old groups, and the other way round. */
function definitionAfter(before: Cohort, input: CohortInput) {
  return {
    filters:
      input.filters === undefined && input.groups === undefined
        ? before.filters
        : (input.filters ?? null),
    groups: input.groups ?? (input.filters === undefined ? before.groups : []),
  };
}

async function validateReferences(
  context: CohortCommandsContext,
  tx: Tx,
  projectId: number,
  ownId: number | null,
  definition: { readonly filters: JsonObject | null; readonly groups: readonly JsonObject[] },
): Promise<void> {
  const ids = validateDefinition(definition, context.compilePattern);
  if (ids.size === 0) return;
  const attr = definition.filters === null ? 'groups' : 'filters';
  const known = await tx('cohorts')
    .where({ project_id: projectId, deleted: false })
    .whereIn('id', [...ids])
    .pluck('id');
  for (const id of ids) if (!known.includes(id) && id !== ownId) throw unknownCohort(attr, id);
  if (ownId === null) return;
  const above = await listCohortIdsAbove(tx, projectId, ownId);
  if (ids.has(ownId) || [...ids].some((id) => above.has(id))) {
    throw invalidField(attr, 'Cohorts cannot reference other cohorts in a loop.');
  }
}

/** A flag that refers to a deleted cohort would fail, so whatever uses it has to change first. */
async function refuseUsed(tx: Tx, cohort: Cohort): Promise<void> {
  const { flagKeys, cohortNames } = await findCohortUsers(tx, cohort.projectId, cohort.id);
  if (flagKeys.length > 0) {
    throw invalidField(
      null,
      `This cohort is used in ${flagKeys.length} active feature flag(s): ${listNames(flagKeys)}. ` +
        'Please remove the cohort from these feature flags before deleting it.',
    );
  }
  if (cohortNames.length > 0) {
    throw invalidField(
      null,
      `This cohort is used in ${cohortNames.length} other cohort(s): ${listNames(cohortNames)}. ` +
        'Please remove the cohort from these cohorts before deleting it.',
    );
  }
}

function listNames(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  const listed = names.slice(0, NAMED_MAX).join(', ');
  return more > 0 ? `${listed}, and ${more} more` : listed;
}

function toColumns(before: Cohort, input: CohortInput) {
  const isRedefined = input.filters !== undefined || input.groups !== undefined;
  const definition = definitionAfter(before, input);
  return {
    name: input.name ?? before.name,
    description: input.description ?? before.description,
    deleted: input.deleted ?? before.deleted,
    ...(isRedefined && !before.isStatic
      ? {
          filters: toJsonText(definition.filters),
          groups: JSON.stringify(definition.groups),
        }
      : {}),
  };
}

function toJsonText(filters: JsonObject | null): string | null {
  return filters === null ? null : JSON.stringify(filters);
}

async function lockCohort(tx: Tx, projectId: number, id: number): Promise<Cohort> {
  const row = await tx('cohorts').where({ project_id: projectId, id }).forUpdate().first();
  if (row === undefined) throw notFound();
  return toCohort(row);
}

/** Has the cohort and every one that contains it counted again. */
async function recount(tx: Tx, { id, projectId }: Cohort): Promise<void> {
  await requestCount(tx, projectId, [id, ...(await listCohortIdsAbove(tx, projectId, id))]);
}

function kindOfChange(before: Cohort, after: Cohort): ActivityKind {
  if (before.deleted === after.deleted) return 'updated';
  return after.deleted ? 'deleted' : 'restored';
}

async function describe(tx: Tx, cohort: Cohort): Promise<DescribedCohort> {
  const [described] = await describeCohorts(tx, [cohort]);
  if (described === undefined) throw new Error('A cohort got lost while it was described.');
  return described;
}
