import { isJson } from '../../domain/common/json.ts';
import { refusedAction } from '../../domain/common/refusal.ts';
import { NEWEST_FIRST } from '../../domain/flags/list/flag-order.ts';
import { listFlagIds, listFlagKeys, listFlags } from '../../domain/flags/list/flags-queries.ts';
import { parseFlagFilters } from '../../domain/flags/list/parse-flag-filters.ts';
import type { FlagCommandsContext } from '../../domain/flags/write/flags-commands.ts';
import { readFlagIds } from '../../domain/flags/write/sent-flag-ids.ts';
import { pythonRepr } from '../../domain/targeting/python-text.ts';
import type { Handlers } from '../../operations/operation.ts';
import { offsetLinks, pageSize } from '../common/pagination.ts';
import { rightsOf, toFlagBody } from './flag-body.ts';

const FLAGS_PAGE_SIZE = 100;

/** The operations that find flags by what they are like. */
export function createFlagListHandlers(
  context: FlagCommandsContext,
): Pick<Handlers, 'listFeatureFlags' | 'listMatchingFeatureFlagIds' | 'listFeatureFlagKeys'> {
  return {
    async listFeatureFlags({ query, access, origin, reply }) {
      const now = context.now();
      const limit = pageSize(query.limit, FLAGS_PAGE_SIZE);
      const offset = query.offset ?? 0;
      const { count, flags } = await listFlags(context.db, access.projectId, {
        filters: parseFlagFilters(query),
        order: query.order ?? NEWEST_FIRST,
        limit,
        offset,
        now,
      });
      const rights = rightsOf(access.caller, context.payloadCipher);
      const results = flags.map((described) => toFlagBody(described, rights, now));
      return reply(200, {
        count,
        ...offsetLinks(origin, { limit, offset, total: count }),
        results,
      });
    },

    async listMatchingFeatureFlagIds({ query, access, reply }) {
      const filters = parseFlagFilters(query);
      const { canEdit } = rightsOf(access.caller, context.payloadCipher);
      // The ids are for bulk changes, so they are those of flags that the caller may change.
      const ids = canEdit
        ? await listFlagIds(context.db, access.projectId, { filters, now: context.now() })
        : [];
      return reply(200, { ids, total: ids.length });
    },

    async listFeatureFlagKeys({ body, access, reply }) {
      const sent = (body.ids ?? []).filter(isJson);
      const { ids, invalid } = readFlagIds(sent);
      if (sent.length > 0 && ids.length === 0) {
        throw refusedAction('error', { detail: 'Invalid flag IDs provided' });
      }
      const keys = Object.fromEntries(await listFlagKeys(context.db, access.projectId, ids));
      if (invalid.length === 0) return reply(200, { keys });
      return reply(200, { keys, warning: `Invalid flag IDs ignored: ${pythonRepr(invalid)}` });
    },
  };
}
