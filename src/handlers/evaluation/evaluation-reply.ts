import type { JsonValue } from '../../domain/common/json.ts';
import type { Evaluation } from '../../domain/evaluation/match/evaluate-flags.ts';
import type { Outcome } from '../../domain/evaluation/model/snapshot.ts';
import { RawJson } from '../../operations/operation.ts';
import { type ReplyShape, toOlderShape } from './evaluation-shape.ts';

/** What names one reply in events and logs. */
export interface ReplyStamp {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly evaluatedAt: number;
}

/** Fields that some replies have beside the flags. */
export type ExtraFields = Readonly<Record<string, JsonValue>>;

/** A piece of JSON text, and whether all of it is ASCII. */
interface Fragment {
  readonly text: string;
  readonly isAscii: boolean;
}

/** The serialised entry of each outcome. Outcomes are shared, so each is serialised once. */
const fragments = new WeakMap<Outcome, Fragment>();

const ASCII = /^[ -~]*$/;

/** The reply in the wanted shape, put together from entries that were serialised before. */
export function serialiseEvaluation(
  evaluation: Evaluation,
  shape: ReplyShape,
  stamp: ReplyStamp,
  extra: ExtraFields | null,
): RawJson {
  if (shape !== 'flags') {
    return new RawJson(JSON.stringify({ ...toOlderShape(evaluation, shape), ...stamp, ...extra }));
  }
  let entries = '';
  let isAscii = true;
  for (const outcome of evaluation.outcomes) {
    const fragment = fragmentOf(outcome);
    entries += entries === '' ? fragment.text : `,${fragment.text}`;
    isAscii &&= fragment.isAscii;
  }
  const more = extra === null ? '' : `,${JSON.stringify(extra).slice(1, -1)}`;
  const text =
    `{"errorsWhileComputingFlags":${evaluation.errorsWhileComputing},"flags":{${entries}},` +
    `"requestId":"${stamp.requestId}","evaluatedAt":${stamp.evaluatedAt}${more}}`;
  return new RawJson(text, { isAscii: isAscii && (more === '' || ASCII.test(more)) });
}

function fragmentOf(outcome: Outcome): Fragment {
  const known = fragments.get(outcome);
  if (known !== undefined) return known;
  const text = `${JSON.stringify(outcome.flag.key)}:${JSON.stringify(toFlagValue(outcome))}`;
  const fragment = { text, isAscii: ASCII.test(text) };
  fragments.set(outcome, fragment);
  return fragment;
}

/** The value of one flag in the newest shape. */
export function toFlagValue(outcome: Outcome) {
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
