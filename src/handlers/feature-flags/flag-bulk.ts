import { isJson, type JsonValue } from '../../domain/common/json.ts';
import { refusedAction } from '../../domain/common/refusal.ts';
import { FLAG_FILTER_NAMES, parseFlagFilters } from '../../domain/flags/list/parse-flag-filters.ts';
import {
  type BulkFailure,
  deleteFlags,
  type FlagSelection,
  updateTags,
} from '../../domain/flags/write/flags-bulk-commands.ts';
import type { FlagCommandsContext } from '../../domain/flags/write/flags-commands.ts';
import type { Body, Handlers } from '../../operations/operation.ts';
import { authorOf } from '../common/caller.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';

/** The operations that write many flags at once. */
export function createFlagBulkHandlers(
  context: FlagCommandsContext,
): Pick<Handlers, 'bulkDeleteFeatureFlags' | 'bulkUpdateFeatureFlagTags'> {
  return {
    async bulkDeleteFeatureFlags({ body, access, reply }) {
      const selection = toSelection(body);
      if (typeof selection === 'string') throw refusedAction('error', { detail: selection });
      const { deleted, errors } = await deleteFlags(context, authorOf(access), selection);
      return reply(200, {
        deleted: deleted.map(({ flag, rollout }) => ({
          id: flag.id,
          key: flag.key,
          rollout_state: rollout.state,
          active_variant: rollout.activeVariant,
        })),
        errors: errors.map(toFailureBody),
      });
    },

    async bulkUpdateFeatureFlagTags({ body, access, reply }) {
      refuseUnstorableText(body);
      const { ids, action, tags } = body;
      if (ids.length === 0) throw refusedAction('error', { detail: 'No flag IDs provided' });
      const { updated, errors } = await updateTags(context, authorOf(access), ids, action, tags);
      return reply(200, {
        updated: updated.map((flag) => ({ id: flag.id, key: flag.key, tags: [...flag.tags] })),
        errors: errors.map(toFailureBody),
      });
    },
  };
}

/** Which flags a body means, or why it means none. */
function toSelection({ ids, filters }: Body<'bulkDeleteFeatureFlags'>): FlagSelection | string {
  const sent = Object.entries(filters ?? {});
  if (sent.length > 0 && ids !== undefined) return 'Provide either filters or ids, not both';
  if (sent.length > 0) {
    const unknown = sent.map(([name]) => name).filter((name) => !FILTER_NAMES.has(name));
    if (unknown.length > 0) return `Unknown filter keys: ${unknown.join(', ')}`;
    const known = sent.flatMap(([name, value]) => (isJson(value) ? [[name, value] as const] : []));
    const parsed = parseFlagFilters(Object.fromEntries(known));
    if (Object.keys(parsed).length > 0) return { filters: parsed };
  }
  if (ids === undefined) return 'Must provide either filters or ids';
  return ids.length === 0 ? 'No flag IDs provided' : { ids };
}

const FILTER_NAMES: ReadonlySet<string> = new Set(FLAG_FILTER_NAMES);

function toFailureBody({ id, key, reason }: BulkFailure): {
  id: JsonValue;
  key?: string;
  reason: string;
} {
  return { id, ...(key === undefined ? {} : { key }), reason };
}
