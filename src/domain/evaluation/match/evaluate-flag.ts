import { drawVariant, isInHoldout, isInRollout } from '../bucketing/bucketing.ts';
import type { FailureCode, MissKind } from '../model/reasons.ts';
import type { Outcome, PreparedCondition, PreparedFlag } from '../model/snapshot.ts';
import { matchCondition } from './match-condition.ts';
import { MISS, type RequestView, UNAVAILABLE, UNKNOWN } from './request-view.ts';

/** Why no condition matched, least specific first; of two equal ranks the later condition counts. */
const NO_GROUP_TYPE = 1;
const NO_MATCH = 2;
const OUT_OF_ROLLOUT = 3;

/**
 * The outcome of one flag. The first of these that applies decides: a failure at preparation,
 * enrollment, the holdout, the conditions in their stored order. Where something could not be known
 * (stored data unavailable, a failed dependency) the flag only fails if its value could differ.
 */
export function evaluateFlag(flag: PreparedFlag, view: RequestView): Outcome {
  if (flag.preparationFailure !== null) {
    return flag.preparationFailure === 'missing_dependency'
      ? flag.outcomes.missingDependency()
      : flag.outcomes.failed(flag.preparationFailure);
  }
  const { enrollmentKey, holdout } = flag.rules;
  if (enrollmentKey !== null) {
    const enrollment = view.readPerson({ key: enrollmentKey, fallbackKeys: [] });
    if (enrollment === UNAVAILABLE) return flag.outcomes.failed('database_unavailable');
    if (enrollment !== undefined) {
      return flag.outcomes.enrolled(enrollment === true || enrollment === 'true');
    }
  }
  if (holdout !== null) {
    const isHeldOut = holdout.isFull || isInHoldout(holdoutIdentifier(flag, view), holdout.share);
    if (isHeldOut) return flag.outcomes.heldOut(holdout.variant);
  }
  return evaluateConditions(flag, view);
}

/** The subject of a holdout: like a person condition's or a group's, but never a stored override. */
function holdoutIdentifier(flag: PreparedFlag, view: RequestView): string {
  const { groupTypeIndex } = flag.rules;
  if (groupTypeIndex !== null) return view.groupKey(groupTypeIndex) ?? '';
  return requestIdentifier(flag, view);
}

function evaluateConditions(flag: PreparedFlag, view: RequestView): Outcome {
  const { conditions, hasEarlyExit } = flag.rules;
  let rank = NO_GROUP_TYPE;
  let rankedIndex: number | null = null;
  let hasSkippedGroup = false;
  // The outcome of a condition of which it is unknown whether it matches, if it does.
  let possible: Outcome | null = null;
  let doubtCause: FailureCode = 'database_unavailable';
  for (const condition of conditions) {
    let candidate = NO_MATCH;
    if (isWithoutGroup(condition, view)) {
      candidate = NO_GROUP_TYPE;
      hasSkippedGroup = true;
    } else if (isWithheld(flag, condition, view)) {
      candidate = OUT_OF_ROLLOUT;
    } else {
      const verdict = matchCondition(condition, view);
      if (view.failure !== null) return takeFailure(flag, view);
      if (verdict !== MISS) {
        const drawn = drawOutcome(flag, condition, view);
        if (drawn === null) return flag.outcomes.failed('database_unavailable');
        if (!drawn.enabled) candidate = OUT_OF_ROLLOUT;
        if (drawn.enabled || hasEarlyExit) {
          if (verdict !== UNKNOWN) return resolveDoubt(drawn, possible, doubtCause);
          if (possible === null) doubtCause = view.doubtCause;
          else if (!isSameValue(possible, drawn)) return flag.outcomes.failed(doubtCause);
          possible = drawn;
        }
      }
    }
    if (candidate >= rank) {
      rank = candidate;
      rankedIndex = condition.index;
    }
  }
  return resolveDoubt(describeMiss(flag, rank, rankedIndex, hasSkippedGroup), possible, doubtCause);
}

/** The certain answer, unless something unknown could have answered differently before it. */
function resolveDoubt(answer: Outcome, possible: Outcome | null, cause: FailureCode): Outcome {
  if (possible === null || isSameValue(possible, answer)) return answer;
  return answer.flag.outcomes.failed(cause);
}

function isSameValue(left: Outcome, right: Outcome): boolean {
  return left.enabled === right.enabled && left.variant === right.variant;
}

function takeFailure(flag: PreparedFlag, view: RequestView): Outcome {
  const code = view.failure ?? 'database_unavailable';
  view.failure = null;
  return flag.outcomes.failed(code);
}

function isWithoutGroup(condition: PreparedCondition, view: RequestView): boolean {
  return condition.groupTypeIndex !== null && view.groupKey(condition.groupTypeIndex) === null;
}

/** Without a device id a device-bucketed condition is only decided where no hash is involved. */
function isWithheld(flag: PreparedFlag, condition: PreparedCondition, view: RequestView): boolean {
  return (
    flag.isDeviceBucketed &&
    condition.groupTypeIndex === null &&
    !view.context.deviceId &&
    (condition.isRolloutPartial || condition.isVariantSplit)
  );
}

/** What a condition answers once its filters match; null = the identifier cannot be known. */
function drawOutcome(
  flag: PreparedFlag,
  condition: PreparedCondition,
  view: RequestView,
): Outcome | null {
  const identifier = conditionIdentifier(flag, condition, view);
  if (identifier === null) return null;
  const { rolloutDraw, variantDraw } = condition;
  const isIn = rolloutDraw === null || isInRollout(rolloutDraw, identifier, condition.rolloutShare);
  if (!isIn) return flag.outcomes.outOfRollout(condition.index);
  const variantIndex =
    variantDraw === null
      ? condition.pinnedVariant
      : drawVariant(variantDraw, identifier, flag.rules.variants.thresholds);
  return flag.outcomes.matched(condition.index, variantIndex);
}

/** Whom a condition buckets; null = a stored override is needed and cannot be read. */
function conditionIdentifier(
  flag: PreparedFlag,
  condition: PreparedCondition,
  view: RequestView,
): string | null {
  if (condition.groupTypeIndex !== null) return view.groupKey(condition.groupTypeIndex) ?? '';
  if (flag.isContinuityEffective) {
    const isHashSignificant = condition.isRolloutPartial || condition.isVariantSplit;
    if (view.isStoredUnavailable && isHashSignificant) return null;
    const override = view.readHashKeyOverride(flag.key);
    if (override !== undefined) return override;
  }
  return requestIdentifier(flag, view);
}

/** The person's identifier as far as the request itself knows it. */
function requestIdentifier(flag: PreparedFlag, view: RequestView): string {
  const { distinctId, deviceId, anonDistinctId } = view.context;
  if (flag.isDeviceBucketed && deviceId) return deviceId;
  // An empty anonymous id counts as absent.
  if (flag.isContinuityEffective && anonDistinctId) return anonDistinctId;
  return distinctId;
}

function describeMiss(
  flag: PreparedFlag,
  rank: number,
  conditionIndex: number | null,
  hasSkippedGroup: boolean,
): Outcome {
  if (rank === NO_GROUP_TYPE || conditionIndex === null) {
    return flag.outcomes.noGroupType(conditionIndex);
  }
  if (rank === OUT_OF_ROLLOUT) return flag.outcomes.outOfRollout(conditionIndex);
  let kind: MissKind = 'plain';
  if (flag.rules.targetsBehaviouralCohort) kind = 'behavioural';
  else if (hasSkippedGroup) kind = 'groupSkipped';
  return flag.outcomes.missed(conditionIndex, kind);
}
