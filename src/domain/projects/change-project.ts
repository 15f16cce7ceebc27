import { toRefusal } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import { raiseProjectRevision } from './projects-writes.ts';

/** What a command needs in order to change the configuration of a project. */
export interface ProjectChanges {
  readonly db: Db;
  /** Called after the commit; resolves when this process serves the new revision. */
  readonly onCommitted: (projectId: number, revision: number) => Promise<void>;
}

/**
 * Runs a change of a project's configuration in one transaction that also raises the revision.
 *
 * The revision is raised first: its row lock makes the writers of a project take turns, so that two
 * commands can never wait for each other's rows. The first statement of the change goes with it, and
 * only what the change does before that is not under the lock. When it returns, the change is
 * committed and this process already serves it.
 */
export async function changeProject<Result>(
  changes: ProjectChanges,
  projectId: number,
  change: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const { result, revision } = await transaction(changes.db, LIMITS.configuration, async (tx) => {
    // The server keeps their order: whatever the change sends is done under the lock.
    const raising = raiseProjectRevision(tx, projectId);
    const changing = (async () => change(tx))();
    // Awaited below. To end the transaction before the lock is had, or refused, would give a
    // connection that is still waiting for it back to the pool.
    changing.catch(() => {});
    const revision = await raising;
    return { result: await changing, revision };
  }).catch((error: unknown) => {
    throw toRefusal(error);
  });
  await changes.onCommitted(projectId, revision);
  return result;
}
