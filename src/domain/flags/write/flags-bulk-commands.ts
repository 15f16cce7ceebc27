import type { JsonValue } from '../../common/json.ts';
import type { Tx } from '../../database/db.ts';
import { changeProject } from '../../projects/change-project.ts';
import { listActiveDependents } from '../list/flag-dependencies-queries.ts';
import type { FlagFilters } from '../list/flag-filters.ts';
import { type DependencyLink, nameFlags } from '../model/flag-dependencies.ts';
import type { FeatureFlag } from '../model/flag-fields.ts';
import { type RolloutStage, stageRollout } from '../model/rollout.ts';
import type { FlagCommandsContext } from './flags-commands.ts';
import { type Author, changeFlags, lockFlags, lockMatchingFlags } from './flags-writes.ts';
import { readFlagId, readFlagIds } from './sent-flag-ids.ts';

/** Why one flag of several was left as it is; `id` is what the client sent. */
export interface BulkFailure {
  readonly id: JsonValue;
  readonly key?: string;
  readonly reason: string;
}

export interface BulkDeletion {
  readonly deleted: readonly { readonly flag: FeatureFlag; readonly rollout: RolloutStage }[];
  readonly errors: readonly BulkFailure[];
}

export interface BulkTagging {
  readonly updated: readonly FeatureFlag[];
  readonly errors: readonly BulkFailure[];
}

/** How many dependents the reason of a failure names. */
const NAMES_SHOWN = 3;

/** The most tags that one flag may have. */
const MAX_TAGS = 1_000;

/** Flags by their ids, as the client sent them, or all that pass filters. */
export type FlagSelection =
  | { readonly ids: readonly JsonValue[] }
  | { readonly filters: FlagFilters };

/**
 * Soft-deletes flags in one transaction. Reports as errors the flags that active flags depend on, unless
 * these are deleted with them, and ids of no flag.
 */
export async function deleteFlags(
  context: FlagCommandsContext,
  author: Author,
  selection: FlagSelection,
): Promise<BulkDeletion> {
  return changeProject(context, author.projectId, async (tx) => {
    const { found, errors } = await select(tx, author.projectId, selection, context.now());
    const links = await listActiveDependents(
      tx,
      author.projectId,
      found.map(({ flag }) => flag.id),
    );
    const deletable = withoutNeeded(new Set(found.map(({ flag }) => flag.id)), links);
    const deleted = found.filter(({ flag }) => deletable.has(flag.id)).map(({ flag }) => flag);
    const needed = found.filter(({ flag }) => !deletable.has(flag.id));
    const changes = deleted.map((before) => ({ before, deleted: true, tags: before.tags }));
    await changeFlags(tx, author, changes, context.now());
    return {
      deleted: deleted.map((flag) => ({ flag, rollout: stageRollout(flag) })),
      errors: [
        ...errors,
        ...needed.map(({ sent, flag }) => ({
          id: sent,
          key: flag.key,
          reason: `Cannot delete because other flags depend on it: ${nameRemaining(flag, links, deletable)}`,
        })),
      ],
    };
  });
}

/**
 * Changes the tags of flags in one transaction: adds to them, removes from them, or sets them. A
 * flag that has them already keeps its version. `ids` are as the client sent them.
 */
export async function updateTags(
  context: FlagCommandsContext,
  author: Author,
  ids: readonly JsonValue[],
  action: 'add' | 'remove' | 'set',
  tags: readonly string[],
): Promise<BulkTagging> {
  return changeProject(context, author.projectId, async (tx) => {
    const { found, errors } = sortOut(
      ids,
      await lockFlags(tx, author.projectId, readFlagIds(ids).ids),
    );
    const planned = found.map(({ sent, flag }) => ({
      sent,
      flag,
      tags: combineTags(flag.tags, action, tags),
    }));
    const taken = planned.filter(({ tags: all }) => all.length <= MAX_TAGS);
    const changes = taken
      .filter(({ flag, tags: all }) => !isSameList(flag.tags, all))
      .map(({ flag, tags: all }) => ({ before: flag, deleted: false, tags: all }));
    const changed = await changeFlags(tx, author, changes, context.now());
    const byId = new Map(changed.map((flag) => [flag.id, flag]));
    return {
      updated: taken.map(({ flag }) => byId.get(flag.id) ?? flag),
      errors: [
        ...errors,
        ...planned
          .filter(({ tags: all }) => all.length > MAX_TAGS)
          .map(({ sent, flag }) => ({
            id: sent,
            key: flag.key,
            reason: `A flag can have at most ${MAX_TAGS} tags`,
          })),
      ],
    };
  });
}

async function select(tx: Tx, projectId: number, selection: FlagSelection, now: Date) {
  if ('ids' in selection) {
    const { ids } = selection;
    return sortOut(ids, await lockFlags(tx, projectId, readFlagIds(ids).ids));
  }
  const flags = await lockMatchingFlags(tx, projectId, selection.filters, now);
  return { found: flags.map((flag) => ({ sent: flag.id, flag })), errors: [] };
}

function combineTags(
  stored: readonly string[],
  action: 'add' | 'remove' | 'set',
  tags: readonly string[],
): string[] {
  if (action === 'set') return [...new Set(tags)];
  if (action === 'add') return [...new Set([...stored, ...tags])];
  return stored.filter((tag) => !tags.includes(tag));
}

function isSameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

/** The requested flags, each once and in the order of the ids, and an error for each other id. */
function sortOut(ids: readonly JsonValue[], flags: readonly FeatureFlag[]) {
  const byId = new Map(flags.map((flag) => [flag.id, flag]));
  const found = new Map<number, { readonly sent: JsonValue; readonly flag: FeatureFlag }>();
  const errors: BulkFailure[] = [];
  for (const sent of ids) {
    const id = readFlagId(sent);
    const flag = id === null ? undefined : byId.get(id);
    if (flag !== undefined) found.set(flag.id, found.get(flag.id) ?? { sent, flag });
    else errors.push({ id: sent, reason: id === null ? INVALID_ID : 'Flag not found' });
  }
  return { found: [...found.values()], errors };
}

const INVALID_ID = 'Invalid flag ID format';

/** The candidates that no flag depends on which stays. What stays needs its own dependencies. */
function withoutNeeded(
  candidates: ReadonlySet<number>,
  links: readonly DependencyLink[],
): ReadonlySet<number> {
  const left = new Set(candidates);
  const linkOf = new Map(links.map((link) => [link.id, link]));
  const staying = links.filter(({ id }) => !left.has(id));
  for (let link = staying.pop(); link !== undefined; link = staying.pop()) {
    for (const id of link.dependsOn) {
      const below = left.delete(id) ? linkOf.get(id) : undefined;
      if (below !== undefined) staying.push(below);
    }
  }
  return left;
}

function nameRemaining(
  flag: FeatureFlag,
  links: readonly DependencyLink[],
  deletable: ReadonlySet<number>,
): string {
  const remaining = links.filter(
    (link) => link.dependsOn.includes(flag.id) && !deletable.has(link.id),
  );
  return nameFlags(remaining, NAMES_SHOWN) ?? '';
}
