import type {
  CohortNode,
  GroupFilter,
  PersonCreatedAtFilter,
  PersonFilter,
  PreparedCondition,
  Snapshot,
} from '../evaluation/model/snapshot.ts';

/** Filters that cannot be evaluated from stored data alone. */
export class UncountableFilters extends Error {
  override readonly name = 'UncountableFilters';
}

/** A filter that compares a stored value. */
export type ValueFilter = PersonFilter | PersonCreatedAtFilter | GroupFilter;

/**
 * Every comparison that a condition can reach, cohorts followed to their leaves. Throws
 * `UncountableFilters` for what stored data cannot answer: other flags, cohorts that cannot be
 * evaluated, and filters on anything but the subject.
 */
export function listValueFilters(condition: PreparedCondition, snapshot: Snapshot): ValueFilter[] {
  const found: ValueFilter[] = [];
  const seen = new Set<number>();
  const { groupTypeIndex } = condition;
  for (const filter of condition.filters) {
    if (filter.kind === 'never') continue;
    if (filter.kind === 'flag') throw new UncountableFilters('flag dependency');
    const isOfGroup = filter.kind === 'group' && filter.groupTypeIndex === groupTypeIndex;
    if (isOfGroup !== (groupTypeIndex !== null)) throw new UncountableFilters('other subject');
    if (filter.kind !== 'cohort') found.push(filter);
    else if (filter.failure !== null) throw new UncountableFilters(filter.failure);
    else addCohort(filter.cohortId, snapshot, { found, seen });
  }
  return found;
}

interface Collected {
  readonly found: ValueFilter[];
  readonly seen: Set<number>;
}

function addCohort(id: number, snapshot: Snapshot, collected: Collected): void {
  if (collected.seen.has(id)) return;
  collected.seen.add(id);
  const cohort = snapshot.cohorts.get(id);
  if (cohort === undefined || cohort.isStatic) return;
  if (cohort.hasBehaviouralLeaf) throw new UncountableFilters('behavioural cohort');
  if (cohort.root !== null) addNode(cohort.root, snapshot, collected);
}

function addNode(node: CohortNode, snapshot: Snapshot, collected: Collected): void {
  if (node.kind === 'property') collected.found.push(node.filter);
  else if (node.kind === 'cohort') addCohort(node.cohortId, snapshot, collected);
  else if (node.kind === 'group') {
    for (const child of node.children) addNode(child, snapshot, collected);
  }
}
