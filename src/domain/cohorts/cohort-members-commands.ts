import { invalidField, notFound, Refusal, unavailable } from '../common/refusal.ts';
import { isLostRace, isStatementTimeout, toRefusal } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import { findPersonIds, type PersonReferences } from '../persons/person-references.ts';
import { lockPersons } from '../persons/write/persons-writes.ts';
import { type Cohort, toCohort } from './cohort.ts';
import { listCohortIdsAbove } from './cohorts-queries.ts';
import { requestCount } from './cohorts-writes.ts';
import { addMembers, removeMembers } from './members/cohort-members-writes.ts';

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

/** Ids added in one transaction: the project's capture waits until it ends. */
const IDS_AT_ONCE = 5_000;

/** Adds everybody whom the references name to a static cohort. */
export async function addCohortMembers(
  context: CohortMembersContext,
  cohort: CohortReference,
  references: PersonReferences,
): Promise<Addition> {
  return addPart(context, cohort, references, new Set());
}

/**
 * The same for a long list, in many short transactions. One that fails leaves the members that are
 * added already, and the error says so: sending the list again adds the others.
 */
export async function addCohortMembersInParts(
  context: CohortMembersContext,
  cohort: CohortReference,
  references: PersonReferences,
): Promise<Addition> {
  const named = new Set<number>();
  const total = { added: 0, alreadyMembers: 0, unknownIds: new Set<string>() };
  let sent = 0;
  for (const part of splitReferences(references)) {
    const { added, alreadyMembers, unknownIds } = await addPart(context, cohort, part, named).catch(
      (error: unknown) => {
        throw sent === 0 ? error : describeRest(error, sent);
      },
    );
    total.added += added;
    total.alreadyMembers += alreadyMembers;
    for (const id of unknownIds) total.unknownIds.add(id);
    sent += IDS_AT_ONCE;
  }
  return { ...total, unknownIds: [...total.unknownIds] };
}

/** Adds whom these references name; persons in `named` are counted already, new ones join them. */
async function addPart(
  context: CohortMembersContext,
  cohort: CohortReference,
  references: PersonReferences,
  named: Set<number>,
): Promise<Addition> {
  const { personIds, unknownIds, added } = await changeMembers(context, cohort, async (tx) => {
    const found = await findPersonIds(tx, cohort.projectId, references);
    const fresh = found.personIds.filter((id) => !named.has(id));
    return {
      personIds: fresh,
      unknownIds: found.unknownIds,
      added: await addMembers(tx, cohort, fresh),
    };
  });
  for (const id of personIds) named.add(id);
  return { added, alreadyMembers: personIds.length - added, unknownIds };
}

function* splitReferences({ uuids, distinctIds }: PersonReferences): Generator<PersonReferences> {
  for (let at = 0; at < uuids.length; at += IDS_AT_ONCE) {
    yield { uuids: uuids.slice(at, at + IDS_AT_ONCE), distinctIds: [] };
  }
  for (let at = 0; at < distinctIds.length; at += IDS_AT_ONCE) {
    yield { uuids: [], distinctIds: distinctIds.slice(at, at + IDS_AT_ONCE) };
  }
}

function describeRest(error: unknown, sent: number): unknown {
  const done = `The first ${sent} ids are done, the others are not.`;
  if (isLostRace(error) || isStatementTimeout(error)) {
    return unavailable(`${done} Please send the file again.`, error);
  }
  if (!(error instanceof Refusal)) return error;
  const detail = `${done} ${error.detail}`;
  return new Refusal(error.kind, detail, {
    code: error.code,
    attr: error.attr,
    cause: error.cause,
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
    const result = await transaction(db, LIMITS.persons, async (tx) => {
      await lockPersons(tx, [projectId]);
      await requireStatic(tx, projectId, id);
      const changed = await change(tx);
      await requestCount(tx, projectId, [...(await listCohortIdsAbove(tx, projectId, id))]);
      return changed;
    });
    onJobsAdded();
    return result;
  } catch (error) {
    throw toRefusal(error);
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
