import type { Caller } from '../domain/access.ts';
import type { Activity } from '../domain/activity/activity.ts';
import { listActivity } from '../domain/activity/activity-queries.ts';
import { notFound } from '../domain/errors.ts';
import type { FeatureFlagWithUsers } from '../domain/flags/flag.ts';
import {
  ACTIVITY_SCOPE,
  type Author,
  createFlag,
  type FlagCommandsContext,
  updateFlag,
} from '../domain/flags/flags-commands.ts';
import { getFlag, listFlags } from '../domain/flags/flags-queries.ts';
import type { Handlers, OperationRequest } from '../server/operation.ts';
import { rightsOf, toFlagBody, toFlagInput } from './flag-body.ts';
import { offsetLinks, pageLinks, pageSize } from './pagination.ts';

const FLAGS_PAGE_SIZE = 100;
const ACTIVITY_PAGE_SIZE = 10;

/** The `Allow` header of one flag's path. DELETE is refused and therefore not in it. */
const FLAG_METHODS = 'GET, HEAD, PUT, PATCH, OPTIONS';

type FlagHandlers = Pick<
  Handlers,
  | 'listFeatureFlags'
  | 'createFeatureFlag'
  | 'getFeatureFlag'
  | 'updateFeatureFlag'
  | 'replaceFeatureFlag'
  | 'deleteFeatureFlag'
  | 'listFeatureFlagActivity'
  | 'listFeatureFlagsActivity'
>;

/** The operations on definitions of flags and on their activity log. */
export function createFlagHandlers(context: FlagCommandsContext): FlagHandlers {
  const describe = (described: FeatureFlagWithUsers, caller: Caller) =>
    toFlagBody(described, rightsOf(caller, context.payloadCipher), context.now());

  return {
    async listFeatureFlags({ query, access, origin, reply }) {
      const limit = pageSize(query.limit, FLAGS_PAGE_SIZE);
      const offset = query.offset ?? 0;
      const { count, flags } = await listFlags(context.db, access.projectId, { limit, offset });
      const results = flags.map((described) => describe(described, access.caller));
      return reply(200, {
        count,
        ...offsetLinks(origin, { limit, offset, total: count }),
        results,
      });
    },

    async createFeatureFlag({ body, access, reply }) {
      const input = { ...toFlagInput(body), key: body.key };
      const created = await createFlag(context, authorOf(access), input);
      return reply(201, describe(created, access.caller));
    },

    async getFeatureFlag({ params, access, reply }) {
      const found = await getFlag(context.db, access.projectId, params.id);
      if (found === undefined) throw notFound();
      return reply(200, describe(found, access.caller));
    },

    async updateFeatureFlag({ params, body, access, reply }) {
      const changed = await updateFlag(context, authorOf(access), params.id, toFlagInput(body));
      return reply(200, describe(changed, access.caller));
    },

    async replaceFeatureFlag({ params, body, access, reply }) {
      const changed = await updateFlag(context, authorOf(access), params.id, toFlagInput(body));
      return reply(200, describe(changed, access.caller));
    },

    deleteFeatureFlag({ reply }) {
      return reply(
        405,
        {
          type: 'invalid_request',
          code: 'method_not_allowed',
          detail:
            'Hard delete of this feature flag is not allowed. Use PATCH to set deleted to true.',
          attr: null,
        },
        { allow: FLAG_METHODS },
      );
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

function authorOf(access: { readonly projectId: number; readonly caller: Caller }): Author {
  const { caller, projectId } = access;
  return { projectId, userId: caller.kind === 'user' ? caller.user.id : null };
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
