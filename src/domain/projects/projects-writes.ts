import type { Tx } from '../database/db.ts';
import type { Statements } from '../database/pipeline.ts';

/** The channel on which every instance listens for changes of configuration. */
export const CHANGES_CHANNEL = 'burgee_changes';

/**
 * Raises the project's revision and tells every instance, both when the transaction commits.
 *
 * The row lock that the update takes orders the writers of one project, so revisions only go up.
 * Returns the new revision. The statement is sent at once: what is sent next comes after it.
 */
export async function raiseProjectRevision(tx: Statements, projectId: number): Promise<number> {
  const raised = tx.raw(
    `WITH raised AS (
       UPDATE projects SET revision = revision + 1 WHERE id = ? RETURNING id, revision
     )
     SELECT revision, pg_notify(?, concat_ws(':', 'project', id, revision)) FROM raised`,
    [projectId, CHANGES_CHANNEL],
  );
  // Asking for its end is what sends it.
  return raised.then(({ rows }: { rows: { revision: number }[] }) => {
    const [row] = rows;
    if (row === undefined) throw new Error(`Project ${projectId} does not exist.`);
    return row.revision;
  });
}

/** Raises the revision of keys, users, memberships and projects, and tells every instance. */
export async function raiseIdentityRevision(tx: Tx): Promise<number> {
  const [row] = await tx('identity_revision')
    .update({ revision: tx.raw('revision + 1') })
    .returning('revision');
  if (row === undefined) throw new Error('The identity revision is missing from the database.');
  await tx.raw('SELECT pg_notify(?, ?)', [CHANGES_CHANNEL, `identity:${row.revision}`]);
  return row.revision;
}
