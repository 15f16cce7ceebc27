import { toDomainError } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
import { invalidField, notFound } from '../errors.ts';
import { findPersonIds, type PersonReferences } from '../persons/person-references.ts';
import { lockPersons } from '../persons/persons-writes.ts';
import { type Cohort, toCohort } from './cohort.ts';
import { addMembers, removeMembers } from './cohort-members-writes.ts';
import { listCohortIdsAbove } from './cohorts-queries.ts';
import { requestCount } from './cohorts-writes.ts';

/** What changing the members of a cohort needs. */
export interface CohortMembersContext {
  readonly db: Db;
  /** Called after a commit that added background jobs. */
  readonly onJobsAdded: () => void;
}

/** A cohort, by the project that it has to be in. */
export interface CohortReference {
  readonly projectId: number;
  readonly id: number;
}

export interface Addition {
  readonly added: number;
  readonly alreadyMembers: number;
  /** Ids that belong to no person. */
  readonly unknownIds: readonly string[];
}

export interface Removal {
  readonly removed: number;
  readonly notMembers: number;
}

/** Adds everybody whom the references name to a static cohort. */
export async function addCohortMembers(
  context: CohortMembersContext,
  cohort: CohortReference,
  references: PersonReferences,
): Promise<Addition> {
  return changeMembers(context, cohort, async (tx) => {
    const { personIds, unknownIds } = await findPersonIds(tx, cohort.projectId, references);
    const added = await addMembers(tx, cohort, personIds);
    return { added, alreadyMembers: personIds.length - added, unknownIds };
  });
}

/** Removes everybody whom the references name from a static cohort. */
export async function removeCohortMembers(
  context: CohortMembersContext,
  cohort: CohortReference,
  references: PersonReferences,
): Promise<Removal> {
  return changeMembers(context, cohort, async (tx) => {
    const { personIds, unknownIds } = await findPersonIds(tx, cohort.projectId, references);
    const removed = await removeMembers(tx, cohort.id, personIds);
    return { removed, notMembers: personIds.length - removed + unknownIds.length };
  });
}

/**
 * Members are looked up by each evaluation, so that this change raises no revision. Cohorts that
 * contain this one are counted again.
 */
async function changeMembers<Result>(
  { db, onJobsAdded }: CohortMembersContext,
  { projectId, id }: CohortReference,
  change: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await db.transaction(async (tx) => {
      await lockPersons(tx, [projectId]);
      await requireStatic(tx, projectId, id);
      const changed = await change(tx);
      await requestCount(tx, projectId, [...(await listCohortIdsAbove(tx, projectId, id))]);
      return changed;
    });
    onJobsAdded();
    return result;
  } catch (error) {
    throw toDomainError(error);
  }
}

async function requireStatic(tx: Tx, projectId: number, id: number): Promise<Cohort> {
  const row = await tx('cohorts').where({ project_id: projectId, id }).first();
  if (row === undefined) throw notFound();
  const cohort = toCohort(row);
  if (!cohort.isStatic) {
    throw invalidField(null, 'Persons can only be added to or removed from a static cohort.');
  }
  if (cohort.deleted) {
    throw invalidField(
      null,
      'This cohort has been deleted. Restore it before changing its members.',
    );
  }
  return cohort;
}
