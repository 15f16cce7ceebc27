import { isJsonObject } from '../../src/domain/common/json.ts';
import { conditionsOf, propertiesOf } from '../../src/domain/flags/model/flag.ts';
import type { FeatureFlag } from '../../src/domain/flags/model/flag-fields.ts';
import type { Answer } from './evaluators.ts';

/** How often something was compared, and with which answers where it alone decides them. */
export interface Count {
  kept: number;
  on: number;
  off: number;
}

/** Counts compared cases by the operators and other parts of definitions that they exercise. */
export class Tally {
  kept = 0;
  inconclusive = 0;
  readonly #counts = new Map<string, Count>();
  readonly #parts = new Map<FeatureFlag, readonly string[]>();

  keep(flag: FeatureFlag, answer: Answer): void {
    this.kept += 1;
    for (const part of this.#partsOf(flag)) {
      const count = this.count(part);
      count.kept += 1;
      if (this.#decides(flag)) count[answer.value === false ? 'off' : 'on'] += 1;
    }
  }

  count(part: string): Count {
    const known = this.#counts.get(part);
    if (known !== undefined) return known;
    const made = { kept: 0, on: 0, off: 0 };
    this.#counts.set(part, made);
    return made;
  }

  /** One line with what was kept, one line for each part. */
  report(): string {
    const total = this.kept + this.inconclusive;
    const share = ((100 * this.kept) / total).toFixed(1);
    const counts = [...this.#counts].sort(([left], [right]) => (left < right ? -1 : 1));
    return [
      `${this.kept} of ${total} cases kept (${share}%), ${this.inconclusive} inconclusive`,
      ...counts.map(([part, { kept, on, off }]) => `  ${part}: ${kept} (alone: ${on}/${off})`),
    ].join('\n');
  }

  /** Whether the answer is that of the flag's only filter. */
  #decides({ active, filters }: FeatureFlag): boolean {
    const [condition, ...others] = conditionsOf(filters);
    if (!active || condition === undefined || others.length > 0) return false;
    const rollout = condition.rollout_percentage ?? 100;
    return (
      propertiesOf(condition).length === 1 && rollout === 100 && !isJsonObject(filters.holdout)
    );
  }

  #partsOf(flag: FeatureFlag): readonly string[] {
    const known = this.#parts.get(flag);
    if (known !== undefined) return known;
    const parts = [...new Set([...listOperators(flag), ...listFeatures(flag)])];
    this.#parts.set(flag, parts);
    return parts;
  }
}

function listOperators({ filters }: FeatureFlag): string[] {
  return conditionsOf(filters)
    .flatMap(propertiesOf)
    .map(({ operator, type }) => String(operator ?? (type === 'cohort' ? 'in' : 'exact')));
}

function listFeatures(flag: FeatureFlag): string[] {
  const { filters } = flag;
  const conditions = conditionsOf(filters);
  const isGrouped = (index: unknown) => typeof index === 'number';
  const features = {
    inactive: !flag.active,
    'device bucketing': flag.bucketingIdentifier === 'device_id',
    'group flag': isGrouped(filters.aggregation_group_type_index),
    'group condition': conditions.some((each) => isGrouped(each.aggregation_group_type_index)),
    variants: isJsonObject(filters.multivariate),
    'variant override': conditions.some((each) => typeof each.variant === 'string'),
    payloads: isJsonObject(filters.payloads) && Object.keys(filters.payloads).length > 0,
    holdout: isJsonObject(filters.holdout),
    'early exit': filters.early_exit === true,
    'fractional rollout': conditions.some(
      ({ rollout_percentage: share }) => typeof share === 'number' && !Number.isInteger(share),
    ),
  };
  return Object.entries(features).flatMap(([name, isPresent]) => (isPresent ? [name] : []));
}
