import { toDomainError } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
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
 * The revision is raised first: its row lock puts the writers of a project in line, so that two
 * commands can never wait for each other's rows. When it returns, the change is committed and this
 * process already serves it.
 */
export async function changeProject<Result>(
  changes: ProjectChanges,
  projectId: number,
  change: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const { result, revision } = await changes.db
    .transaction(async (tx) => {
      const raised = await raiseProjectRevision(tx, projectId);
      return { result: await change(tx), revision: raised };
    })
    .catch((error: unknown) => {
      throw toDomainError(error);
    });
  await changes.onCommitted(projectId, revision);
  return result;
}
