import { type Sent, type Statements, sendWith } from '../../database/pipeline.ts';
import { preparedOnce } from '../../database/prepared-statements.ts';
import {
  applyPersonChange,
  createPersonLedger,
  findSurvivor,
  type MergeRefusal,
  requireId,
} from '../model/person-ledger.ts';
import {
  loadPersonLedgers,
  type PersonEntry,
  type PersonLedgers,
  writePersonLedgers,
} from './persons-storage.ts';

export {
  cleanText,
  cutText,
  toIdentifier,
  toStoredDistinctId,
} from '../../common/stored-text.ts';
// What other nouns need of the rules for persons; they import this module and no other.
export {
  isDroppedEvent,
  type PersonChange,
  readPersonChange,
  toStoredProperties,
} from '../model/person-changes.ts';
export { loadPersonLedgers, type PersonEntry, type PersonLedgers } from './persons-storage.ts';

/** Two persons that were to become one and did not. */
export interface RefusedMerge {
  readonly projectId: number;
  readonly reason: MergeRefusal;
}

/** The first key of the advisory locks that guard a project's persons and groups. */
const PERSONS_LOCK = 7301;

const LOCK_PERSONS = preparedOnce(
  'lock-persons',
  'SELECT pg_advisory_xact_lock(?, id) FROM unnest(?::int[]) AS id',
);

/**
 * Waits until no other transaction changes persons, groups or group types of these projects, and
 * keeps it so until this one ends. Everything that writes them takes this lock first, which is what
 * makes "read, decide, write" safe between processes; the order of the ids rules out deadlocks.
 */
export async function lockPersons(tx: Statements, projectIds: readonly number[]): Promise<void> {
  const ids = [...new Set(projectIds)].sort((a, b) => a - b);
  await tx.raw(LOCK_PERSONS, [PERSONS_LOCK, ids]);
}

/**
 * Applies the changes in their order and returns each entry's person id, null for a lookup that
 * found none. Needs `lockPersons`. The number of round trips does not depend on the number of
 * entries, and that of the statements only on how many of them merge persons.
 */
export async function applyPersonChanges(
  tx: Statements,
  entries: readonly PersonEntry[],
  onMergeRefused: (refused: RefusedMerge) => void = () => {},
): Promise<(number | null)[]> {
  if (entries.length === 0) return [];
  const ledgers = await loadPersonLedgers(tx, entries);
  const { result, rest } = await sendPersonChanges(tx, entries, ledgers, onMergeRefused);
  await rest;
  return result;
}

/**
 * The same with persons that are loaded already, which may be more than the entries name. The ids
 * are known before all of the changes are written.
 */
export async function sendPersonChanges(
  tx: Statements,
  entries: readonly PersonEntry[],
  ledgers: PersonLedgers,
  onMergeRefused: (refused: RefusedMerge) => void,
): Promise<Sent<(number | null)[]>> {
  const persons = entries.map((entry) => {
    const ledger = ledgers.get(entry.projectId) ?? createPersonLedger();
    const { projectId } = entry;
    return applyPersonChange(ledger, entry, (reason) => onMergeRefused({ projectId, reason }));
  });
  const { rest } = await writePersonLedgers(tx, ledgers);
  const ids = persons.map((person) => (person === null ? null : requireId(findSurvivor(person))));
  return sendWith(ids, rest);
}
