import { conditionsOf, type FeatureFlag, propertiesOf, variantsOf } from './flag.ts';

export type FlagStatus = 'active' | 'stale' | 'deleted';

export interface FlagStatusReport {
  readonly status: FlagStatus;
  readonly reason: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long a flag may go uncalled before it counts as stale. */
export const STALE_AFTER_DAYS = 30;

/**
 * Whether a flag is in use, and why.
 *
 * A disabled flag is never stale. An active one is when it was last called more than 30 days ago,
 * or when it was never called, is older than 30 days and gives everybody the same value.
 */
export function reportFlagStatus(flag: FeatureFlag, now: Date): FlagStatusReport {
  if (flag.deleted) return { status: 'deleted', reason: 'Flag has been deleted' };
  if (!flag.active) {
    return { status: 'active', reason: 'Flag is disabled (not evaluated for staleness)' };
  }
  if (flag.lastCalledAt !== null) return reportByLastCall(flag.lastCalledAt, now);
  const settled = describeFullRollout(flag);
  if (settled !== null && daysBetween(flag.createdAt, now) > STALE_AFTER_DAYS) {
    return { status: 'stale', reason: settled };
  }
  return { status: 'active', reason: 'Flag has no usage data yet' };
}

function reportByLastCall(lastCalledAt: Date, now: Date): FlagStatusReport {
  const age = daysBetween(lastCalledAt, now);
  const days = Math.floor(age);
  if (age > STALE_AFTER_DAYS) {
    return { status: 'stale', reason: `Flag has not been called in ${days} days` };
  }
  if (days <= 0) return { status: 'active', reason: 'Flag was called today' };
  const unit = days === 1 ? 'day' : 'days';
  return { status: 'active', reason: `Flag was last called ${days} ${unit} ago` };
}

function daysBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / DAY_MS;
}

/** Why everybody gets the same value, or null when they may not. A null percentage is not 100. */
function describeFullRollout(flag: FeatureFlag): string | null {
  const conditions = conditionsOf(flag.filters);
  const full = conditions.find(
    (condition) => condition.rollout_percentage === 100 && propertiesOf(condition).length === 0,
  );
  const variants = variantsOf(flag.filters);
  if (variants.length === 0) {
    const isFull = conditions.length === 0 || full !== undefined;
    return isFull ? 'This boolean flag will always evaluate to "true"' : null;
  }
  if (full === undefined) return null;
  const override = typeof full.variant === 'string' && full.variant !== '' ? full.variant : null;
  const settled = override ?? variants.find((variant) => variant.rollout_percentage === 100)?.key;
  return typeof settled === 'string' ? `This flag will always use the variant "${settled}"` : null;
}
