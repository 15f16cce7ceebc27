import type { PreparedCohort, PreparedFilter, StoredReads } from '../model/snapshot.ts';

/** Reads nothing. */
export const NO_READS: StoredReads = {
  personKeys: [],
  needsPersonCreatedAt: false,
  groupProperties: [],
  staticCohortIds: [],
};

/** The stored values that these filters may read, cohorts followed to their leaves. */
export function collectReads(
  filters: readonly PreparedFilter[],
  cohorts: ReadonlyMap<number, PreparedCohort>,
): StoredReads {
  return mergeReads(filters.map((filter) => readsOf(filter, cohorts)));
}

/** Everything that any of these may read, each value once. */
export function mergeReads(all: readonly StoredReads[]): StoredReads {
  const [only, second] = all;
  if (only === undefined) return NO_READS;
  if (second === undefined) return only;
  const groups = new Map(
    all
      .flatMap((reads) => reads.groupProperties)
      .map((read) => [`${read.index} ${read.key}`, read]),
  );
  return {
    personKeys: [...new Set(all.flatMap((reads) => reads.personKeys))],
    needsPersonCreatedAt: all.some((reads) => reads.needsPersonCreatedAt),
    groupProperties: [...groups.values()],
    staticCohortIds: [...new Set(all.flatMap((reads) => reads.staticCohortIds))],
  };
}

/** Whether nothing stored is read. */
export function isReadFree(reads: StoredReads): boolean {
  return (
    reads.personKeys.length === 0 &&
    !reads.needsPersonCreatedAt &&
    reads.groupProperties.length === 0 &&
    reads.staticCohortIds.length === 0
  );
}

function readsOf(
  filter: PreparedFilter,
  cohorts: ReadonlyMap<number, PreparedCohort>,
): StoredReads {
  switch (filter.kind) {
    case 'person':
      // Every request carries the distinct id.
      return filter.key === 'distinct_id' ? NO_READS : { ...NO_READS, personKeys: [filter.key] };
    case 'person_created_at':
      return { ...NO_READS, needsPersonCreatedAt: true };
    case 'group':
      return {
        ...NO_READS,
        groupProperties: [{ index: filter.groupTypeIndex, key: filter.key }],
      };
    case 'cohort':
      return cohorts.get(filter.cohortId)?.reads ?? NO_READS;
    default:
      return NO_READS;
  }
}
