import type { JsonObject } from '../../common/json.ts';
import { conditionsOf, propertiesOf, variantsOf } from './flag.ts';
import type { FeatureFlag } from './flag-fields.ts';

/** How far a flag is rolled out, by its filters alone. */
export interface Rollout {
  /** Everybody gets the flag, and those who get a variant get the same one. */
  readonly isEffectivelyFull: boolean;
  readonly hasTargetingConditions: boolean;
  /** The highest of its conditions, where null is 100; 0 without any condition. */
  readonly maxPercentage: number;
  readonly isMultivariate: boolean;
}

/** How far a flag has got, and the variant that everybody gets, if there is one. */
export interface RolloutStage {
  readonly state: 'fully_rolled_out' | 'not_rolled_out' | 'partial';
  readonly activeVariant: string | null;
}

/** How far the filters roll a flag out. */
export function measureRollout(filters: JsonObject): Rollout {
  const conditions = conditionsOf(filters);
  const constant = findConstantValue(filters);
  return {
    isEffectivelyFull: constant !== null && constant !== false,
    hasTargetingConditions: conditions.some((condition) => propertiesOf(condition).length > 0),
    maxPercentage: conditions.reduce((highest, each) => Math.max(highest, percentageOf(each)), 0),
    isMultivariate: variantsOf(filters).length > 0,
  };
}

/**
 * A flag is fully rolled out when a condition without property filters gives everybody the same
 * value, and not at all when it is disabled or no condition lets anybody in. Here a percentage that
 * is not stated is 100, as in evaluation.
 */
export function stageRollout({ filters, active }: FeatureFlag): RolloutStage {
  const conditions = conditionsOf(filters);
  if (!active || conditions.every((condition) => percentageOf(condition) === 0)) {
    return { state: 'not_rolled_out', activeVariant: null };
  }
  const full = conditions.find((each) => !isTargeted(each) && percentageOf(each) === 100);
  const value = full === undefined ? null : valueForAll(full, filters);
  if (value === null) return { state: 'partial', activeVariant: null };
  return { state: 'fully_rolled_out', activeVariant: value === true ? null : value };
}

/**
 * The value that everybody gets: a variant or whether the flag is on; null when it may differ. Only
 * a condition with an explicit 100 percent guarantees it.
 */
export function findConstantValue(filters: JsonObject): string | boolean | null {
  const conditions = conditionsOf(filters);
  // A boolean flag without conditions reaches nobody, and so gives everybody the same value, too.
  if (conditions.length === 0) return variantsOf(filters).length === 0 ? false : null;
  const full = conditions.find((each) => !isTargeted(each) && each.rollout_percentage === 100);
  return full === undefined ? null : valueForAll(full, filters);
}

/** What a condition that lets everybody in gives to all of them; null when that differs. */
function valueForAll(full: JsonObject, filters: JsonObject): string | true | null {
  const variants = variantsOf(filters);
  if (variants.length === 0) return true;
  if (typeof full.variant === 'string' && full.variant !== '') return full.variant;
  const key = variants.find((variant) => variant.rollout_percentage === 100)?.key;
  return typeof key === 'string' ? key : null;
}

function isTargeted(condition: JsonObject): boolean {
  return propertiesOf(condition).length > 0;
}

function percentageOf({ rollout_percentage: percentage }: JsonObject): number {
  return typeof percentage === 'number' ? percentage : 100;
}
