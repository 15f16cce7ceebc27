import { removeFromCohorts } from '../cohorts/members/cohort-members-writes.ts';
import { notFound } from '../common/refusal.ts';
import { toRefusal } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import { deleteEventsOf } from '../events/delete-events.ts';
import { removeFlagUser } from '../usage/flags/flag-usage-writes.ts';
import { getPersonByUuid, type Person } from './persons-queries.ts';
import { lockPersons } from './write/persons-writes.ts';

export interface PersonDeletion {
  readonly projectId: number;
  readonly uuid: string;
  /** Whether every event of the person's distinct ids goes too. */
  readonly deletesEvents: boolean;
}

/** The first key of the advisory locks that put a project's deletions of events in line. */
const DELETION_LOCK = 7313;

/**
 * Deletes a person for good, in one transaction: the row, and with it the distinct ids, memberships
 * and kept identifiers. Cohorts and the usage of flags do not count the person any more. Throws
 * `not_found` for a person who does not exist.
 *
 * While persons are locked nobody can store events of the project, and deleting many events takes
 * its time. So they go before the lock is taken, and after it only what came in meanwhile.
 */
export async function deletePerson(
  db: Db,
  { projectId, uuid, deletesEvents }: PersonDeletion,
  now: Date,
): Promise<void> {
  await transaction(db, LIMITS.persons, async (tx) => {
    if (deletesEvents) {
      // Two that delete the same events would wait for each other.
      await tx.raw('SELECT pg_advisory_xact_lock(?, ?)', [DELETION_LOCK, projectId]);
    }
    const { distinctIds: earlierIds } = await requirePerson(tx, projectId, uuid);
    if (deletesEvents) await deleteEventsOf(tx, projectId, earlierIds);
    await lockPersons(tx, [projectId]);
    const { id, distinctIds } = await requirePerson(tx, projectId, uuid);
    await removeFromCohorts(tx, id);
    await removeFlagUser(tx, id);
    await tx('persons').where({ id }).delete();
    if (!deletesEvents) return;
    await deleteEventsOf(tx, projectId, earlierIds, now);
    const known = new Set(earlierIds);
    const gained = distinctIds.filter((id) => !known.has(id));
    if (gained.length > 0) await deleteEventsOf(tx, projectId, gained);
  }).catch((error: unknown) => {
    throw toRefusal(error);
  });
}

async function requirePerson(tx: Tx, projectId: number, uuid: string): Promise<Person> {
  const person = await getPersonByUuid(tx, projectId, uuid);
  if (person === null) throw notFound();
  return person;
}
