import type { JsonObject } from '../../common/json.ts';
import type { FeatureFlag } from './flag-fields.ts';
import { findConstantValue } from './rollout.ts';

export type FlagStatus = 'active' | 'stale' | 'deleted';

export interface FlagStatusReport {
  readonly status: FlagStatus;
  readonly reason: string;
  /** Whether the reason is the rollout, and not the last call or the state of the flag. */
  readonly isReasonRollout: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long a flag may go uncalled before it counts as stale. */
const STALE_AFTER_DAYS = 30;

/** The moment before which a flag must have been called last to be stale. */
export function staleSince(now: Date): Date {
  return new Date(now.getTime() - STALE_AFTER_DAYS * DAY_MS);
}

/**
 * Whether a flag is in use, and why.
 *
 * A disabled flag is never stale. An active one is when it was last called more than 30 days ago,
 * or when it was never called, is older than 30 days and gives everybody the same value.
 */
export function reportFlagStatus(flag: FeatureFlag, now: Date): FlagStatusReport {
  if (flag.deleted) return finding('deleted', 'Flag has been deleted');
  if (!flag.active) return finding('active', 'Flag is disabled (not evaluated for staleness)');
  if (flag.lastCalledAt !== null) return judgeLastCall(flag.lastCalledAt, now);
  const reason = describeConstantValue(flag.filters);
  if (reason !== null && flag.createdAt < staleSince(now)) {
    return { status: 'stale', reason, isReasonRollout: true };
  }
  return finding('active', 'Flag has no usage data yet');
}

function judgeLastCall(lastCalledAt: Date, now: Date): FlagStatusReport {
  const days = Math.floor((now.getTime() - lastCalledAt.getTime()) / DAY_MS);
  if (lastCalledAt < staleSince(now)) {
    return finding('stale', `Flag has not been called in ${days} days`);
  }
  if (days <= 0) return finding('active', 'Flag was called today');
  const unit = days === 1 ? 'day' : 'days';
  return finding('active', `Flag was last called ${days} ${unit} ago`);
}

function finding(status: FlagStatus, reason: string): FlagStatusReport {
  return { status, reason, isReasonRollout: false };
}

/** The value that everybody gets, in words; null when it may differ. */
function describeConstantValue(filters: JsonObject): string | null {
  const value = findConstantValue(filters);
  if (value === null) return null;
  return typeof value === 'string'
    ? `This flag will always use the variant "${value}"`
    : `This boolean flag will always evaluate to "${value}"`;
}
