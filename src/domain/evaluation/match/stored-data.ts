import type { EvaluationContext } from '../model/context.ts';
import type { PreparedCondition, PreparedFlag, Snapshot, StoredReads } from '../model/snapshot.ts';
import { readGroupKey, readGroupOverrides } from './request-view.ts';
import { type FlagSelection, isFilteredOut, selectFlags } from './select-flags.ts';

/** What has to be looked up before an evaluation. */
export interface StoredDataNeeds {
  /** The person's row: properties or creation time. */
  readonly person: boolean;
  readonly groups: readonly { readonly index: number; readonly key: string }[];
  /** Static cohorts whose membership matters. */
  readonly staticCohortIds: readonly number[];
  /** Identifiers kept by experience continuity. */
  readonly hashKeyOverrides: boolean;
}

interface NeedsSoFar {
  person: boolean;
  hashKeyOverrides: boolean;
  readonly groups: Map<number, string>;
  readonly staticCohortIds: Set<number>;
}

/**
 * The stored data that could change the answer of a selected flag, given the request; null when
 * none could, so that no round trip to the database is needed.
 */
export function storedDataNeeds(
  snapshot: Snapshot,
  context: EvaluationContext,
  options: FlagSelection = {},
): StoredDataNeeds | null {
  if (isToldByRequest(snapshot, context)) return null;
  const needs: NeedsSoFar = {
    person: false,
    hashKeyOverrides: false,
    groups: new Map(),
    staticCohortIds: new Set(),
  };
  for (const flag of selectFlags(snapshot, options.flagKeys)) {
    const isIndependent = flag.readsNothingStored && !flag.needsHashKeyOverride;
    if (isIndependent || flag.isCyclic || flag.preparationFailure !== null) continue;
    if (isFilteredOut(flag, context, options.surveyFlagsOnly === true)) continue;
    addFlagNeeds(needs, flag, snapshot, context);
  }
  const isNothing =
    !needs.person &&
    !needs.hashKeyOverrides &&
    needs.groups.size === 0 &&
    needs.staticCohortIds.size === 0;
  if (isNothing) return null;
  return {
    person: needs.person,
    groups: [...needs.groups].map(([index, key]) => ({ index, key })),
    staticCohortIds: [...needs.staticCohortIds],
    hashKeyOverrides: needs.hashKeyOverrides,
  };
}

/** Whether the request has every property that flags read: servers often send all they have. */
function isToldByRequest(
  { personKeysRead }: Snapshot,
  { personProperties }: EvaluationContext,
): boolean {
  if (personKeysRead === null) return false;
  for (const key of personKeysRead) if (!Object.hasOwn(personProperties, key)) return false;
  return true;
}

function addFlagNeeds(
  needs: NeedsSoFar,
  flag: PreparedFlag,
  snapshot: Snapshot,
  context: EvaluationContext,
): void {
  const { enrollmentKey, conditions } = flag.rules;
  if (enrollmentKey !== null) {
    // Enrolled or not, a request that says so decides the flag.
    if (Object.hasOwn(context.personProperties, enrollmentKey)) return;
    needs.person = true;
  }
  if (flag.needsHashKeyOverride) needs.hashKeyOverrides = true;
  for (const condition of conditions) {
    if (isUnreachable(condition, snapshot, context)) continue;
    addReads(needs, condition.reads, snapshot, context);
  }
}

/** A group condition without its group is skipped, whatever is stored. */
function isUnreachable(
  condition: PreparedCondition,
  snapshot: Snapshot,
  context: EvaluationContext,
): boolean {
  const { groupTypeIndex } = condition;
  return groupTypeIndex !== null && readGroupKey(snapshot, context, groupTypeIndex) === null;
}

function addReads(
  needs: NeedsSoFar,
  reads: StoredReads,
  snapshot: Snapshot,
  context: EvaluationContext,
): void {
  needs.person ||=
    reads.needsPersonCreatedAt ||
    reads.personKeys.some((key) => !Object.hasOwn(context.personProperties, key));
  for (const id of reads.staticCohortIds) needs.staticCohortIds.add(id);
  for (const { index, key } of reads.groupProperties) {
    if (needs.groups.has(index) || key === '$group_key') continue;
    const groupKey = readGroupKey(snapshot, context, index);
    if (groupKey === null) continue;
    const sent = readGroupOverrides(snapshot, context, index);
    if (sent === undefined || !Object.hasOwn(sent, key)) needs.groups.set(index, groupKey);
  }
}
