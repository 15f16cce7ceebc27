import type { JsonValue } from '../json.ts';
import {
  type FailureCode,
  MISS_DESCRIPTIONS,
  type MissKind,
  REASON_DESCRIPTIONS,
} from './reasons.ts';
import type { Outcome, PreparedFlag } from './snapshot.ts';

const BOOLEAN_PAYLOAD_KEY = 'true';

type Slots = (Outcome | undefined)[];

/**
 * Every outcome of one flag, each made once and then shared. Bounded: conditions x (variants + 1)
 * matches, and a handful of answers per condition otherwise.
 */
export class OutcomeTable {
  readonly #getFlag: () => PreparedFlag;
  readonly #matches: Slots = [];
  readonly #outOfRollout: Slots = [];
  readonly #noGroupType: Slots = [];
  readonly #misses = new Map<string, Outcome>();
  readonly #rare = new Map<string, Outcome>();

  /** The flag refers to its table and the table to its flag: the second is looked up when used. */
  constructor(getFlag: () => PreparedFlag) {
    this.#getFlag = getFlag;
  }

  /** The condition matched; `variantIndex` -1 = enabled without a variant. */
  matched(conditionIndex: number, variantIndex: number): Outcome {
    const { keys } = this.#getFlag().rules.variants;
    const slot = conditionIndex * (keys.length + 1) + variantIndex + 1;
    const known = this.#matches[slot];
    if (known !== undefined) return known;
    const variant = keys[variantIndex] ?? null;
    const made = this.#make({
      enabled: true,
      variant,
      reason: 'condition_match',
      description: `${REASON_DESCRIPTIONS.condition_match} ${conditionIndex + 1}`,
      conditionIndex,
      payload: this.#payload(variant ?? BOOLEAN_PAYLOAD_KEY),
    });
    this.#matches[slot] = made;
    return made;
  }

  /** Properties matched, the rollout did not admit; also a withheld device-bucketed condition. */
  outOfRollout(conditionIndex: number): Outcome {
    const known = this.#outOfRollout[conditionIndex];
    if (known !== undefined) return known;
    const made = this.#make({ reason: 'out_of_rollout_bound', conditionIndex });
    this.#outOfRollout[conditionIndex] = made;
    return made;
  }

  /** No properties matched. */
  missed(conditionIndex: number, kind: MissKind): Outcome {
    const slot = `${kind}:${conditionIndex}`;
    const known = this.#misses.get(slot);
    if (known !== undefined) return known;
    const made = this.#make({
      reason: 'no_condition_match',
      description: MISS_DESCRIPTIONS[kind],
      conditionIndex,
    });
    this.#misses.set(slot, made);
    return made;
  }

  /** Only skipped group conditions, or (null) no condition at all. */
  noGroupType(conditionIndex: number | null): Outcome {
    const slot = conditionIndex === null ? 0 : conditionIndex + 1;
    const known = this.#noGroupType[slot];
    if (known !== undefined) return known;
    const made = this.#make({ reason: 'no_group_type', conditionIndex });
    this.#noGroupType[slot] = made;
    return made;
  }

  /** Decided by the enrollment property; opting out keeps the payload of the enabled flag. */
  enrolled(enabled: boolean): Outcome {
    return this.#once(`enrolled:${enabled}`, {
      enabled,
      reason: 'super_condition_value',
      conditionIndex: 0,
      payload: this.#payload(BOOLEAN_PAYLOAD_KEY),
    });
  }

  /** Held out: enabled, with the holdout's own variant. */
  heldOut(variant: string): Outcome {
    return this.#once('holdout', {
      enabled: true,
      variant,
      reason: 'holdout_condition_value',
      payload: this.#payload(variant),
    });
  }

  /** A flag that this one depends on does not exist. */
  missingDependency(): Outcome {
    return this.#once('missing_dependency', { reason: 'missing_dependency' });
  }

  /** The flag could not be evaluated. */
  failed(code: FailureCode): Outcome {
    return this.#once(`failed:${code}`, { reason: code, failed: true });
  }

  #payload(key: string): JsonValue | undefined {
    return this.#getFlag().rules.payloads.get(key);
  }

  #once(slot: string, parts: Partial<Outcome> & Pick<Outcome, 'reason'>): Outcome {
    const known = this.#rare.get(slot);
    if (known !== undefined) return known;
    const made = this.#make(parts);
    this.#rare.set(slot, made);
    return made;
  }

  #make(parts: Partial<Outcome> & Pick<Outcome, 'reason'>): Outcome {
    return Object.freeze({
      flag: this.#getFlag(),
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
