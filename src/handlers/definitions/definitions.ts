import { createHash } from 'node:crypto';
import { notFound } from '../../domain/common/refusal.ts';
import { buildLocalDefinitions } from '../../domain/flags/model/local-definitions.ts';
import type { ServedProject } from '../../domain/snapshots/load-definitions.ts';
import type { SnapshotStore } from '../../domain/snapshots/snapshot-store.ts';
import type { RequestKind, RequestUsage } from '../../domain/usage/requests/request-usage.ts';
import { type Handlers, RawJson, type RequestOrigin } from '../../operations/operation.ts';
import { toCompactFlagBody } from '../common/compact-flag-body.ts';

export interface DefinitionHandlersContext {
  readonly snapshots: SnapshotStore;
  readonly usage: RequestUsage;
}

type DefinitionHandlers = Pick<Handlers, 'getLocalEvaluation' | 'getFlagDefinitions'>;

/** The definitions of one revision as they are sent, and the digest that names them. */
interface Feed {
  readonly body: RawJson;
  readonly etag: string;
  readonly headers: Readonly<Record<'etag' | 'cache-control' | 'vary', string>>;
}

/** What to answer: the feed, that it has not changed, or that the quota is used up. */
type Verdict =
  | { readonly kind: 'changed' | 'unchanged'; readonly feed: Feed }
  | { readonly kind: 'over_quota' };

const ETAG_HEX_DIGITS = 16;
/** What a cache has to tell apart; a 304 says the same as the 200 that it stands for. */
const VARY = 'accept-encoding,origin';
const CACHE_CONTROL = 'private, must-revalidate';
const QUOTA_USED_UP = {
  type: 'quota_limited',
  code: 'payment_required',
  detail: 'You have exceeded your feature flag request quota',
} as const;

/** The operations that SDKs poll in order to evaluate flags locally. */
export function createDefinitionHandlers(context: DefinitionHandlersContext): DefinitionHandlers {
  const feeds = new WeakMap<ServedProject, Map<boolean, Feed>>();

  function decide(served: ServedProject, sendCohorts: boolean, origin: RequestOrigin): Verdict {
    const { id, flagRequestsPerMonth: quota } = served.project;
    if (quota !== null && context.usage.isOver(id, quota)) return { kind: 'over_quota' };
    const feed = findFeed(feeds, served, sendCohorts);
    const isKnown = hasEtag(origin.headers['if-none-match'], feed.etag);
    count(context.usage, id, isKnown ? 'definitions_unchanged' : 'definitions', origin);
    return { kind: isKnown ? 'unchanged' : 'changed', feed };
  }

  /** Answers at once when the project is in memory, which it is but for its first moment. */
  function answer<Answer>(projectId: number, respond: (served: ServedProject) => Answer) {
    const served = context.snapshots.getServed(projectId);
    if (served !== undefined) return respond(served);
    return context.snapshots.getByProjectId(projectId).then((loaded) => {
      if (loaded === undefined) throw notFound('Project not found.');
      return respond(loaded);
    });
  }

  return {
    getLocalEvaluation: ({ query, access, origin, reply }) =>
      answer(access.projectId, (served) => {
        const verdict = decide(served, query.send_cohorts === true, origin);
        if (verdict.kind === 'over_quota') return reply(402, QUOTA_USED_UP);
        const { body, headers } = verdict.feed;
        return verdict.kind === 'unchanged'
          ? reply(304, undefined, headers)
          : reply(200, body, headers);
      }),

    getFlagDefinitions({ query, access, origin, reply }) {
      if (access === null) throw new Error('Flag definitions need a caller.');
      return answer(access.projectId, (served) => {
        const verdict = decide(served, query.send_cohorts === true, origin);
        if (verdict.kind === 'over_quota') return reply(402, QUOTA_USED_UP);
        const { body, headers } = verdict.feed;
        return verdict.kind === 'unchanged'
          ? reply(304, undefined, headers)
          : reply(200, body, headers);
      });
    },
  };
}

function count(
  usage: RequestUsage,
  projectId: number,
  kind: RequestKind,
  origin: RequestOrigin,
): void {
  const userAgent = origin.headers['user-agent'];
  usage.count(projectId, kind, typeof userAgent === 'string' ? userAgent : undefined);
}

/** The feed of a revision, serialised once with cohorts and once without. */
function findFeed(
  feeds: WeakMap<ServedProject, Map<boolean, Feed>>,
  served: ServedProject,
  sendCohorts: boolean,
): Feed {
  let ofRevision = feeds.get(served);
  if (ofRevision === undefined) {
    ofRevision = new Map();
    feeds.set(served, ofRevision);
  }
  let feed = ofRevision.get(sendCohorts);
  if (feed === undefined) {
    feed = serialiseFeed(served, sendCohorts);
    ofRevision.set(sendCohorts, feed);
  }
  return feed;
}

function serialiseFeed(served: ServedProject, sendCohorts: boolean): Feed {
  const local = buildLocalDefinitions(served.flags, served.cohorts, sendCohorts);
  const text = JSON.stringify({
    flags: local.flags.map(({ flag, filters }) => ({ ...toCompactFlagBody(flag), filters })),
    group_type_mapping: Object.fromEntries(
      served.groupTypes.map(({ index, groupType }) => [String(index), groupType]),
    ),
    cohorts: local.cohorts,
  });
  const digest = createHash('sha256').update(text).digest('hex').slice(0, ETAG_HEX_DIGITS);
  const etag = `W/"${digest}"`;
  return {
    body: new RawJson(text, { isCompressible: true }),
    etag,
    headers: { etag, 'cache-control': CACHE_CONTROL, vary: VARY },
  };
}

/** Whether the client holds this version: a list of tags, weak, strong or bare, or `*`. */
function hasEtag(header: string | string[] | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag) return true;
  const held = (Array.isArray(header) ? header.join(',') : header).split(',');
  const bare = bareTag(etag);
  return held.some((tag) => tag.trim() === '*' || bareTag(tag) === bare);
}

function bareTag(tag: string): string {
  return tag.trim().replace(/^W\//, '').replaceAll('"', '');
}
