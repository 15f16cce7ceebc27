import type { JsonValue } from '../../common/json.ts';
import {
  type FailureCode,
  MISS_DESCRIPTIONS,
  type MissKind,
  REASON_DESCRIPTIONS,
} from '../model/reasons.ts';
import type { Outcome, Outcomes, PreparedFlag, PreparedRules } from '../model/snapshot.ts';

const BOOLEAN_PAYLOAD_KEY = 'true';

type OutcomeParts = Partial<Outcome> & Pick<Outcome, 'reason'>;

/** Outcomes of a condition other than its matches, by their place in the condition's row. */
const OUT_OF_ROLLOUT = 0;
const NO_GROUP_TYPE = 1;
const MISSES: Readonly<Record<MissKind, number>> = { plain: 2, groupSkipped: 3, behavioural: 4 };
/** Matched without a variant; behind it one place for each variant. */
const MATCHED = 5;

/**
 * Every outcome of one flag, each made once and then shared. Bounded: conditions x (variants + 1)
 * matches, and a handful of answers per condition otherwise.
 */
export class OutcomeTable implements Outcomes {
  readonly #flag: PreparedFlag;
  readonly #rowLength: number;
  /** A row for each condition; made when the first outcome is. */
  #rows: (Outcome | undefined)[] | null = null;
  #rare: Map<string, Outcome> | null = null;

  /** The rules are handed in because the flag, which holds this table, is not complete yet. */
  constructor(flag: PreparedFlag, rules: PreparedRules) {
    this.#flag = flag;
    this.#rowLength = MATCHED + 1 + rules.variants.keys.length;
  }

  matched(conditionIndex: number, variantIndex: number): Outcome {
    const place = conditionIndex * this.#rowLength + MATCHED + 1 + variantIndex;
    const known = this.#rows?.[place];
    if (known !== undefined) return known;
    const variant = this.#flag.rules.variants.keys[variantIndex] ?? null;
    return this.#keep(place, {
      enabled: true,
      variant,
      reason: 'condition_match',
      description: `${REASON_DESCRIPTIONS.condition_match} ${conditionIndex + 1}`,
      conditionIndex,
      payload: this.#payload(variant ?? BOOLEAN_PAYLOAD_KEY),
    });
  }

  outOfRollout(conditionIndex: number): Outcome {
    const place = conditionIndex * this.#rowLength + OUT_OF_ROLLOUT;
    const known = this.#rows?.[place];
    return known ?? this.#keep(place, { reason: 'out_of_rollout_bound', conditionIndex });
  }

  missed(conditionIndex: number, kind: MissKind): Outcome {
    const place = conditionIndex * this.#rowLength + MISSES[kind];
    const known = this.#rows?.[place];
    if (known !== undefined) return known;
    const description = MISS_DESCRIPTIONS[kind];
    return this.#keep(place, { reason: 'no_condition_match', description, conditionIndex });
  }

  noGroupType(conditionIndex: number | null): Outcome {
    if (conditionIndex === null) return this.#once('no_condition', { reason: 'no_group_type' });
    const place = conditionIndex * this.#rowLength + NO_GROUP_TYPE;
    const known = this.#rows?.[place];
    return known ?? this.#keep(place, { reason: 'no_group_type', conditionIndex });
  }

  enrolled(enabled: boolean): Outcome {
    return this.#once(`enrolled:${enabled}`, {
      enabled,
      reason: 'super_condition_value',
      conditionIndex: 0,
      payload: this.#payload(BOOLEAN_PAYLOAD_KEY),
    });
  }

  heldOut(variant: string): Outcome {
    return this.#once('holdout', {
      enabled: true,
      variant,
      reason: 'holdout_condition_value',
      payload: this.#payload(variant),
    });
  }

  missingDependency(): Outcome {
    return this.#once('missing_dependency', { reason: 'missing_dependency' });
  }

  failed(code: FailureCode): Outcome {
    return this.#once(`failed:${code}`, { reason: code, failed: true });
  }

  #payload(key: string): JsonValue | undefined {
    return this.#flag.rules.payloads.get(key);
  }

  #keep(place: number, parts: OutcomeParts): Outcome {
    this.#rows ??= new Array(this.#flag.rules.conditions.length * this.#rowLength);
    const made = this.#make(parts);
    this.#rows[place] = made;
    return made;
  }

  #once(name: string, parts: OutcomeParts): Outcome {
    const known = this.#rare?.get(name);
    if (known !== undefined) return known;
    const made = this.#make(parts);
    this.#rare ??= new Map();
    this.#rare.set(name, made);
    return made;
  }

  #make(parts: OutcomeParts): Outcome {
    return Object.freeze({
      flag: this.#flag,
      enabled: parts.enabled ?? false,
      variant: parts.variant ?? null,
      reason: parts.reason,
      description: parts.description ?? REASON_DESCRIPTIONS[parts.reason],
      conditionIndex: parts.conditionIndex ?? null,
      payload: parts.payload,
      failed: parts.failed ?? false,
    });
  }
}
