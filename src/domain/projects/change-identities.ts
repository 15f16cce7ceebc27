import { toRefusal } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import { raiseIdentityRevision } from './projects-writes.ts';

/** What a command needs in order to change keys, users, memberships or the set of projects. */
export interface IdentityChanges {
  readonly db: Db;
  /** Called after the commit: what this process remembers of identities is out of date. */
  readonly onIdentitiesChanged: () => void;
}

/**
 * Runs a change of identities in one transaction that also raises their revision.
 *
 * The revision is raised first: its row lock makes such changes take turns, so that each one decides on
 * what the one before it left. When it returns, the change is committed and this process already
 * knows of it; the others are notified.
 */
export async function changeIdentities<Result>(
  changes: IdentityChanges,
  change: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const result = await transaction(changes.db, LIMITS.configuration, async (tx) => {
    await raiseIdentityRevision(tx);
    return change(tx);
  }).catch((error: unknown) => {
    throw toRefusal(error);
  });
  changes.onIdentitiesChanged();
  return result;
}
