import type { Evaluation } from '../domain/evaluation/evaluate-flags.ts';
import type { Outcome } from '../domain/evaluation/snapshot.ts';
import type { JsonValue } from '../domain/json.ts';
import { type ReplyShape, toOlderShape } from './evaluation-shape.ts';

/** What names one reply in events and logs. */
export interface ReplyStamp {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly evaluatedAt: number;
}

/** Fields that some replies have beside the flags. */
export type ExtraFields = Readonly<Record<string, JsonValue>>;

/** The serialised entry of each outcome. Outcomes are shared, so each is serialised once. */
const fragments = new WeakMap<Outcome, string>();

/** The reply in the wanted shape, put together from entries that were serialised before. */
export function serialiseEvaluation(
  evaluation: Evaluation,
  shape: ReplyShape,
  stamp: ReplyStamp,
  extra: ExtraFields | null,
): string {
  if (shape !== 'flags') {
    return JSON.stringify({ ...toOlderShape(evaluation, shape), ...stamp, ...extra });
  }
  let entries = '';
  for (const outcome of evaluation.outcomes) {
    if (entries !== '') entries += ',';
    entries += fragmentOf(outcome);
  }
  const more = extra === null ? '' : `,${JSON.stringify(extra).slice(1, -1)}`;
  return (
    `{"errorsWhileComputingFlags":${evaluation.errorsWhileComputing},"flags":{${entries}},` +
    `"requestId":"${stamp.requestId}","evaluatedAt":${stamp.evaluatedAt}${more}}`
  );
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
