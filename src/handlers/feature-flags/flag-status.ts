import { getFlag } from '../../domain/flags/list/flags-queries.ts';
import type { FeatureFlag } from '../../domain/flags/model/flag-fields.ts';
import { reportFlagStatus } from '../../domain/flags/model/flag-status.ts';
import { measureRollout } from '../../domain/flags/model/rollout.ts';
import type { FlagCommandsContext } from '../../domain/flags/write/flags-commands.ts';
import type { Handlers } from '../../operations/operation.ts';

/** A flag that cannot be found has a status as well; older clients read it from the error. */
const UNKNOWN_FLAG = {
  type: 'invalid_request',
  code: 'not_found',
  detail: 'Not found.',
  attr: null,
  status: 'unknown',
  reason: 'Flag could not be found',
} as const;

/** The operation that says whether a flag is in use. */
export function createFlagStatusHandlers(
  context: FlagCommandsContext,
): Pick<Handlers, 'getFeatureFlagStatus'> {
  return {
    async getFeatureFlagStatus({ params, access, reply }) {
      const found = await getFlag(context.db, access.projectId, params.id);
      if (found === undefined) return reply(404, UNKNOWN_FLAG);
      return reply(200, toStatusBody(found.flag, context.now()));
    },
  };
}

function toStatusBody(flag: FeatureFlag, now: Date) {
  const { status, reason, isReasonRollout } = reportFlagStatus(flag, now);
  const rollout = measureRollout(flag.filters);
  return {
    status,
    reason,
    reason_states_rollout: isReasonRollout,
    rollout: {
      effectively_full_rollout: rollout.isEffectivelyFull,
      has_targeting_conditions: rollout.hasTargetingConditions,
      max_rollout_percentage: rollout.maxPercentage,
      is_multivariate: rollout.isMultivariate,
    },
  };
}
