import { getFlagVersion } from '../../domain/flags/write/flag-versions.ts';
import type { FlagCommandsContext } from '../../domain/flags/write/flags-commands.ts';
import type { Handlers } from '../../operations/operation.ts';
import { rightsOf, toFlagBody } from './flag-body.ts';

/** The operation that shows a flag as it was. */
export function createFlagVersionHandlers(
  context: FlagCommandsContext,
): Pick<Handlers, 'getFeatureFlagVersion'> {
  return {
    async getFeatureFlagVersion({ params, access, reply }) {
      const found = await getFlagVersion(context.db, access.projectId, params.id, params.version);
      const rights = rightsOf(access.caller, context.payloadCipher);
      return reply(200, {
        ...toFlagBody(found.described, rights, context.now()),
        is_historical: found.isHistorical,
        version_timestamp: found.writtenAt.toISOString(),
        modified_by: found.modifiedById,
      });
    },
  };
}
