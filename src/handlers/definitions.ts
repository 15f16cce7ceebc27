import { createHash } from 'node:crypto';
import { notFound } from '../domain/errors.ts';
import type { ServedProject } from '../domain/snapshots/load-definitions.ts';
import type { SnapshotStore } from '../domain/snapshots/snapshot-store.ts';
import { type Handlers, RawJson } from '../server/operation.ts';
import { toCompactFlagBody } from './flag-body.ts';

type DefinitionHandlers = Pick<Handlers, 'getLocalEvaluation' | 'getFlagDefinitions'>;

/** The definitions of one revision as they are sent, and the digest that names them. */
interface Feed {
  readonly body: RawJson;
  readonly etag: string;
}

const ETAG_HEX_DIGITS = 16;
const CACHE_CONTROL = 'private, must-revalidate';

/** The operations that SDKs poll in order to evaluate flags locally. */
export function createDefinitionHandlers(snapshots: SnapshotStore): DefinitionHandlers {
  const feeds = new WeakMap<ServedProject, Feed>();

  async function findFeed(projectId: number): Promise<Feed> {
    const served = await snapshots.getByProjectId(projectId);
    if (served === undefined) throw notFound('Project not found.');
    let feed = feeds.get(served);
    if (feed === undefined) {
      feed = serialiseFeed(served);
      feeds.set(served, feed);
    }
    return feed;
  }

  return {
    async getLocalEvaluation({ access, origin, reply }) {
      const { body, etag } = await findFeed(access.projectId);
      const headers = { etag, 'cache-control': CACHE_CONTROL };
      const isKnown = hasEtag(origin.headers['if-none-match'], etag);
      return isKnown ? reply(304, undefined, headers) : reply(200, body, headers);
    },

    async getFlagDefinitions({ access, origin, reply }) {
      if (access === null) throw new Error('Flag definitions need a caller.');
      const { body, etag } = await findFeed(access.projectId);
      const headers = { etag, 'cache-control': CACHE_CONTROL };
      const isKnown = hasEtag(origin.headers['if-none-match'], etag);
      return isKnown ? reply(304, undefined, headers) : reply(200, body, headers);
    },
  };
}

function serialiseFeed(served: ServedProject): Feed {
  const text = JSON.stringify({
    flags: served.flags.filter((flag) => !flag.hasEncryptedPayloads).map(toCompactFlagBody),
    group_type_mapping: Object.fromEntries(
      served.groupTypes.map(({ index, groupType }) => [String(index), groupType]),
    ),
    cohorts: {},
  });
  const digest = createHash('sha256').update(text).digest('hex').slice(0, ETAG_HEX_DIGITS);
  return { body: new RawJson(text), etag: `W/"${digest}"` };
}

/** Whether the client holds this version: a list of tags, weak, strong or bare, or `*`. */
function hasEtag(header: string | string[] | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const held = (Array.isArray(header) ? header.join(',') : header).split(',');
  const bare = bareTag(etag);
  return held.some((tag) => tag.trim() === '*' || bareTag(tag) === bare);
}

function bareTag(tag: string): string {
  return tag.trim().replace(/^W\//, '').replaceAll('"', '');
}
