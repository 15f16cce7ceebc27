import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import type { CohortDefinition } from '../../evaluation/model/definitions.ts';
import { isList } from '../../targeting/filters-structure.ts';
import { conditionsOf, propertiesOf } from './flag.ts';

type CohortsById = ReadonlyMap<number, CohortDefinition>;

const EVENT_TYPES: ReadonlySet<JsonValue | undefined> = new Set(['behavioral', 'lifecycle']);

/** What the filters refer to as cohorts, in the order of their conditions. */
export function cohortReferences(filters: JsonObject): JsonValue[] {
  return conditionsOf(filters)
    .flatMap(propertiesOf)
    .filter((property) => property.type === 'cohort')
    .map((property) => property.value ?? null);
}

/**
 * The first cohort among this one and those that it consists of whose members depend on events,
 * which evaluation does not look at. A static cohort has its members, whatever they once did.
 */
export function findEventCohort(
  cohort: CohortDefinition,
  cohorts: CohortsById,
): CohortDefinition | null {
  const seen = new Set<number>();
  const waiting = [cohort];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (seen.has(next.id)) continue;
    seen.add(next.id);
    if (next.isStatic || next.cohortType === 'static') continue;
    const leaves = leavesOf(next);
    if (leaves.some(isOnEvents)) return next;
    waiting.push(...leaves.flatMap((leaf) => nestedCohort(leaf, cohorts)));
  }
  return null;
}

function isOnEvents(leaf: JsonObject): boolean {
  if (EVENT_TYPES.has(leaf.type)) return true;
  // Old groups name the event or action that members did.
  return [leaf.event_id, leaf.action_id].some((id) => (id ?? null) !== null);
}

function nestedCohort(leaf: JsonObject, cohorts: CohortsById): CohortDefinition[] {
  if (leaf.type !== 'cohort') return [];
  const found = cohorts.get(Number(leaf.value));
  return found === undefined ? [] : [found];
}

/** Every filter anywhere in the cohort. Walked without recursion: nesting has no bound here. */
function leavesOf({ filters, groups }: CohortDefinition): JsonObject[] {
  const leaves: JsonObject[] = [];
  const waiting: JsonValue[] = [filters?.properties ?? null, groups];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isList(node)) waiting.push(...node);
    else if (isJsonObject(node)) {
      leaves.push(node);
      waiting.push(node.values ?? null, node.properties ?? null);
    }
  }
  return leaves;
}
