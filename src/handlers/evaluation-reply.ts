import type { Evaluation } from '../domain/evaluation/evaluate-flags.ts';
import type { Outcome } from '../domain/evaluation/snapshot.ts';
import type { JsonValue } from '../domain/json.ts';

/** What names one reply in events and logs. */
export interface ReplyStamp {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly evaluatedAt: number;
}

/** The serialised entry of each outcome. Outcomes are shared, so each is serialised once. */
const fragments = new WeakMap<Outcome, string>();

/** The reply with reasons, put together from entries that were serialised before. */
export function serialiseFlagValues(evaluation: Evaluation, stamp: ReplyStamp): string {
  let entries = '';
  for (const outcome of evaluation.outcomes) {
    if (entries !== '') entries += ',';
    entries += fragmentOf(outcome);
  }
  return (
    `{"errorsWhileComputingFlags":${evaluation.errorsWhileComputing},"flags":{${entries}},` +
    `"requestId":"${stamp.requestId}","evaluatedAt":${stamp.evaluatedAt}}`
  );
}

/** The older reply: values and payloads only. Every flag appears, off and failed ones too. */
export function serialiseLegacyFlagValues(evaluation: Evaluation, stamp: ReplyStamp): string {
  const featureFlags: Record<string, boolean | string> = {};
  const featureFlagPayloads: Record<string, JsonValue> = {};
  for (const { flag, enabled, variant, payload } of evaluation.outcomes) {
    featureFlags[flag.key] = enabled && variant !== null ? variant : enabled;
    if (payload !== undefined && payload !== null) featureFlagPayloads[flag.key] = payload;
  }
  return JSON.stringify({
    errorsWhileComputingFlags: evaluation.errorsWhileComputing,
    featureFlags,
    featureFlagPayloads,
    ...stamp,
  });
}

function fragmentOf(outcome: Outcome): string {
  let fragment = fragments.get(outcome);
  if (fragment === undefined) {
    fragment = `${JSON.stringify(outcome.flag.key)}:${JSON.stringify(toFlagValue(outcome))}`;
    fragments.set(outcome, fragment);
  }
  return fragment;
}

function toFlagValue(outcome: Outcome) {
  const { flag } = outcome;
  return {
    key: flag.key,
    enabled: outcome.enabled,
    variant: outcome.variant,
    ...(outcome.failed ? { failed: true } : {}),
    reason: {
      code: outcome.reason,
      condition_index: outcome.conditionIndex,
      description: outcome.description,
    },
    metadata: {
      id: flag.id,
      version: flag.version,
      description: null,
      payload: outcome.payload ?? null,
      has_experiment: false,
    },
  };
}
