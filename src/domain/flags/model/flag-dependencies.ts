import type { JsonObject } from '../../common/json.ts';
import { conditionsOf, propertiesOf } from './flag.ts';

/** A flag in a chain of dependencies. */
export interface DependencyLink {
  readonly id: number;
  readonly key: string;
  /** Ids of the flags that it depends on. */
  readonly dependsOn: readonly number[];
}

/** What the filters refer to as flags, in the order of their conditions, each once. */
export function dependencyReferences(filters: JsonObject): string[] {
  const references = conditionsOf(filters)
    .flatMap(propertiesOf)
    .filter((property) => property.type === 'flag')
    .map((property) => String(property.key));
  return [...new Set(references)];
}

/** The id that a reference names; null when it cannot be the id of a flag. */
export function toFlagId(reference: string): number | null {
  return /^[0-9]{1,15}$/.test(reference) ? Number(reference) : null;
}

/**
 * Flags as a refusal lists them, the first few by name and the rest by number; null when there are
 * none.
 */
export function nameFlags(
  flags: readonly { readonly id: number; readonly key: string }[],
  shown = 5,
): string | null {
  if (flags.length === 0) return null;
  const names = flags.slice(0, shown).map(({ id, key }) => `${key} (ID: ${id})`);
  const others = flags.length - names.length;
  return `${names.join(', ')}${others > 0 ? `, and ${others} more` : ''}`;
}

/**
 * The keys along the shortest way from a flag through its dependencies back to itself, both ends
 * included; null when there is none. `others` are the other flags that depend on something.
 */
export function findCycle(
  start: DependencyLink,
  others: readonly DependencyLink[],
): string[] | null {
  const links = new Map(others.map((link) => [link.id, link]));
  const cameFrom = new Map<number, DependencyLink>();
  let front: readonly DependencyLink[] = [start];
  while (front.length > 0) {
    const next: DependencyLink[] = [];
    for (const link of front) {
      for (const id of link.dependsOn) {
        if (id === start.id) return wayBack(start, link, cameFrom);
        const found = links.get(id);
        if (found === undefined || cameFrom.has(id)) continue;
        cameFrom.set(id, link);
        next.push(found);
      }
    }
    front = next;
  }
  return null;
}

function wayBack(
  start: DependencyLink,
  last: DependencyLink,
  cameFrom: ReadonlyMap<number, DependencyLink>,
): string[] {
  const keys = [start.key];
  let link: DependencyLink | undefined = last;
  while (link !== undefined && link.id !== start.id) {
    keys.unshift(link.key);
    link = cameFrom.get(link.id);
  }
  return [start.key, ...keys];
}
