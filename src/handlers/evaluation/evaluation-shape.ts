import type { JsonValue } from '../../domain/common/json.ts';
import type { Evaluation } from '../../domain/evaluation/match/evaluate-flags.ts';
import type { Outcome } from '../../domain/evaluation/model/snapshot.ts';

/** The shapes of an evaluation reply, newest first. */
export type ReplyShape = 'flags' | 'legacy' | 'decide_enabled' | 'decide_keys';

/** What a request says about the reply that it wants. */
export interface WantedReply {
  readonly shape: ReplyShape;
  readonly withConfig: boolean;
}

/**
 * Reads the wanted shape. On `/flags` version 2 and more gives `flags`; without version and config
 * both are on. On `/decide` the settings are always added unless the client says otherwise.
 */
export function readWantedReply(
  path: string,
  version: string | undefined,
  config: boolean | undefined,
): WantedReply {
  const isStated = version !== undefined && version !== '';
  const number = isStated ? parseVersion(version) : null;
  if (/^\/decide\/?$/.test(path)) {
    return { shape: decideShape(number ?? 1), withConfig: config ?? true };
  }
  if (number === null && config === undefined) return { shape: 'flags', withConfig: true };
  return { shape: (number ?? 1) >= 2 ? 'flags' : 'legacy', withConfig: config ?? false };
}

/** Text that is no number counts as version 1. */
function parseVersion(text: string): number {
  const number = Number.parseInt(text, 10);
  return Number.isNaN(number) ? 1 : number;
}

function decideShape(version: number): ReplyShape {
  if (version >= 4) return 'flags';
  if (version === 3) return 'legacy';
  return version === 2 ? 'decide_enabled' : 'decide_keys';
}

/** The value of a flag in one word: its variant, or whether it is on. A flag left out is off. */
export function flagValue(outcome: Outcome | undefined): boolean | string {
  if (outcome === undefined) return false;
  return outcome.enabled && outcome.variant !== null ? outcome.variant : outcome.enabled;
}

/** The values of flags in an older shape. */
export function toOlderShape(
  evaluation: Evaluation,
  shape: Exclude<ReplyShape, 'flags'>,
): Record<string, JsonValue> {
  // Maps, because a flag may have a key such as __proto__.
  const values = new Map<string, boolean | string>();
  const payloads = new Map<string, JsonValue>();
  for (const outcome of evaluation.outcomes) {
    const { flag, payload } = outcome;
    if (shape !== 'legacy' && !outcome.enabled) continue;
    values.set(flag.key, flagValue(outcome));
    if (payload !== undefined && payload !== null) payloads.set(flag.key, payload);
  }
  if (shape === 'decide_keys') return { featureFlags: [...values.keys()] };
  const featureFlags = Object.fromEntries(values);
  if (shape === 'decide_enabled') return { featureFlags };
  return {
    errorsWhileComputingFlags: evaluation.errorsWhileComputing,
    featureFlags,
    featureFlagPayloads: Object.fromEntries(payloads),
  };
}
