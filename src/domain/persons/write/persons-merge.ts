import { moveCohortMemberships } from '../../cohorts/members/cohort-members-writes.ts';
import type { Statements } from '../../database/pipeline.ts';
import { moveFlagUsers } from '../../usage/flags/flag-usage-writes.ts';
import {
  findSurvivor,
  type PersonDraft,
  type PersonMerge,
  requireId,
} from '../model/person-ledger.ts';
import { moveHashKeyOverrides } from './hash-key-overrides-writes.ts';

/**
 * Moves rows of another table from an absorbed person to the one that absorbed it. Where both have
 * a row, the absorbing person's wins. What it sends, it sends at once and without waiting: the
 * moves of later merges are sent behind it.
 */
export type MovePersonRows = (
  tx: Statements,
  projectId: number,
  fromPersonId: number,
  toPersonId: number,
) => Promise<void>;

/**
 * What else belongs to a person and moves with a merge, in the merge's own transaction, before the
 * absorbed person is deleted. Tables that refer to persons add their function here.
 */
export const MOVES_ON_MERGE: readonly MovePersonRows[] = [
  moveCohortMemberships,
  moveHashKeyOverrides,
];

/** The merges of one project, oldest first. */
export interface ProjectMerges {
  readonly projectId: number;
  readonly merges: readonly PersonMerge[];
}

/**
 * Moves everything that absorbed persons own to those that absorbed them and deletes the absorbed
 * rows, in one statement for each merge and kind of row and a few for all. The number of round
 * trips does not depend on that of the merges. Every person involved must have its row by now, see
 * `findCarriers`.
 */
export async function writeMerges(
  tx: Statements,
  projects: readonly ProjectMerges[],
  moves: readonly MovePersonRows[] = MOVES_ON_MERGE,
): Promise<void> {
  const steps = projects.flatMap(({ projectId, merges }) =>
    merges.flatMap(({ from, to }) =>
      from.id === null
        ? []
        : [
            {
              projectId,
              fromId: from.id,
              toId: requireId(to),
              lastId: requireId(findSurvivor(from)),
            },
          ],
    ),
  );
  if (steps.length === 0) return;
  await lockRows(
    tx,
    steps.flatMap(({ fromId, toId }) => [fromId, toId]),
  );
  // One round trip for all of them; the server works them off in this order.
  await Promise.all(
    steps.flatMap(({ projectId, fromId, toId }) =>
      moves.map((move) => move(tx, projectId, fromId, toId)),
    ),
  );
  const fromIds = steps.map(({ fromId }) => fromId);
  const toIds = steps.map(({ lastId }) => lastId);
  await tx.raw(
    `UPDATE person_distinct_ids AS d SET person_id = m.to_id
     FROM unnest(?::bigint[], ?::bigint[]) AS m (from_id, to_id)
     WHERE d.person_id = m.from_id`,
    [fromIds, toIds],
  );
  await moveFlagUsers(tx, fromIds, toIds);
  await tx.raw('DELETE FROM persons WHERE id = ANY (?::bigint[])', [fromIds]);
}

/**
 * Evaluation keeps identifiers of persons without any lock on the project. It takes their rows in
 * the order of their ids, so whoever moves what it writes takes them all in that order before.
 */
async function lockRows(tx: Statements, personIds: readonly number[]): Promise<void> {
  await tx.raw('SELECT FROM persons WHERE id = ANY (?::bigint[]) ORDER BY id FOR UPDATE', [
    [...personIds],
  ]);
}

/**
 * The persons through which an older person's rows pass: they need a row of their own even when
 * they were created in this transaction and do not outlive it.
 */
export function findCarriers(merges: readonly PersonMerge[]): Set<PersonDraft> {
  const carriers = new Set<PersonDraft>();
  for (const { from, to } of merges) {
    if (from.id !== null || carriers.has(from)) carriers.add(to);
  }
  return carriers;
}
