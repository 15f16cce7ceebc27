import { notFound } from '../../domain/common/refusal.ts';
import type { Db } from '../../domain/database/db.ts';
import { listActiveDependents } from '../../domain/flags/list/flag-dependencies-queries.ts';
import { getFlag } from '../../domain/flags/list/flags-queries.ts';
import type { FlagCommandsContext } from '../../domain/flags/write/flags-commands.ts';
import type { Handlers } from '../../operations/operation.ts';

/** Tells clients that `dependent_flags` takes this operation's place. */
const DEPRECATED = { deprecation: 'true', sunset: 'Thu, 22 Jan 2026 00:00:00 GMT' };

/** The operations that tell which flags depend on a flag. */
export function createFlagDependentsHandlers(
  context: FlagCommandsContext,
): Pick<Handlers, 'listDependentFeatureFlags' | 'checkActiveDependents'> {
  return {
    async listDependentFeatureFlags({ params, access, reply }) {
      return reply(200, await findDependents(context.db, access.projectId, params.id));
    },

    async checkActiveDependents({ params, access, reply }) {
      const dependents = await findDependents(context.db, access.projectId, params.id);
      const body = {
        has_active_dependents: dependents.length > 0,
        dependent_flags: dependents,
      };
      return reply(200, body, DEPRECATED);
    },
  };
}

async function findDependents(db: Db, projectId: number, id: number) {
  if ((await getFlag(db, projectId, id)) === undefined) throw notFound();
  const dependents = await listActiveDependents(db, projectId, [id]);
  return dependents.map(({ id, key, name }) => ({ id, key, name: name === '' ? key : name }));
}
