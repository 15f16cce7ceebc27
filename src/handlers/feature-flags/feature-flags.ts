import type { Activity } from '../../domain/activity/activity.ts';
import { listActivity } from '../../domain/activity/activity-queries.ts';
import type { Caller } from '../../domain/common/access.ts';
import { notFound } from '../../domain/common/refusal.ts';
import { getFlag } from '../../domain/flags/list/flags-queries.ts';
import type { DescribedFlag } from '../../domain/flags/model/flag.ts';
import type { FlagCommandsContext } from '../../domain/flags/write/flags-commands.ts';
import { ACTIVITY_SCOPE } from '../../domain/flags/write/flags-writes.ts';
import type { Handlers, OperationRequest } from '../../operations/operation.ts';
import { pageLinks, pageSize } from '../common/pagination.ts';
import { rightsOf, toFlagBody } from './flag-body.ts';

const ACTIVITY_PAGE_SIZE = 10;

type FlagReadHandlers = Pick<
  Handlers,
  'getFeatureFlag' | 'listFeatureFlagActivity' | 'listFeatureFlagsActivity'
>;

/** The operations that read definitions of flags and their activity log. */
export function createFlagReadHandlers(context: FlagCommandsContext): FlagReadHandlers {
  const describe = (described: DescribedFlag, caller: Caller) =>
    toFlagBody(described, rightsOf(caller, context.payloadCipher), context.now());

  return {
    async getFeatureFlag({ params, access, reply }) {
      const found = await getFlag(context.db, access.projectId, params.id);
      if (found === undefined) throw notFound();
      return reply(200, describe(found, access.caller));
    },

    async listFeatureFlagActivity({ params, query, access, origin, reply }) {
      if ((await getFlag(context.db, access.projectId, params.id)) === undefined) throw notFound();
      const page = await readActivity(context, access.projectId, query, String(params.id));
      return reply(200, toActivityPage(page, origin));
    },

    async listFeatureFlagsActivity({ query, access, origin, reply }) {
      const page = await readActivity(context, access.projectId, query);
      return reply(200, toActivityPage(page, origin));
    },
  };
}

async function readActivity(
  context: FlagCommandsContext,
  projectId: number,
  query: OperationRequest<'listFeatureFlagsActivity'>['query'],
  itemId?: string,
) {
  const limit = pageSize(query.limit, ACTIVITY_PAGE_SIZE);
  const page = query.page ?? 1;
  const found = await listActivity(context.db, {
    projectId,
    scope: ACTIVITY_SCOPE,
    ...(itemId === undefined ? {} : { itemId }),
    limit,
    offset: (page - 1) * limit,
  });
  return { ...found, limit, page };
}

function toActivityPage(
  read: Awaited<ReturnType<typeof readActivity>>,
  origin: OperationRequest<'listFeatureFlagsActivity'>['origin'],
) {
  const { limit, page, totalCount } = read;
  return {
    results: read.entries.map(toActivityBody),
    ...pageLinks(origin, { limit, page, total: totalCount }),
    total_count: totalCount,
  };
}

function toActivityBody(entry: Activity) {
  return {
    id: entry.id,
    user: entry.userEmail,
    activity: entry.activity,
    scope: entry.scope,
    item_id: entry.itemId,
    detail: {
      id: entry.itemId,
      changes: entry.changes.map((change) => ({ ...change })),
      merge: null,
      trigger: null,
      name: entry.name,
      short_id: null,
      type: null,
    },
    created_at: entry.createdAt.toISOString(),
  };
}
