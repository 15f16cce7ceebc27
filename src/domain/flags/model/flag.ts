import { isJsonObject, type JsonObject } from '../../common/json.ts';
import type { User } from '../../projects/project.ts';
import type { FeatureFlag } from './flag-fields.ts';

/** A flag with the users and cohorts that it names. */
export interface DescribedFlag {
  readonly flag: FeatureFlag;
  readonly cohortNames: ReadonlyMap<number, string>;
  readonly createdBy: User | null;
  readonly lastModifiedBy: User | null;
}

/** The conditions of a flag's filters; whatever is not an object is left out. */
export function conditionsOf(filters: JsonObject): JsonObject[] {
  return Array.isArray(filters.groups) ? filters.groups.filter(isJsonObject) : [];
}

/** The variants of a flag's filters; whatever is not an object is left out. */
export function variantsOf(filters: JsonObject): JsonObject[] {
  const multivariate = filters.multivariate;
  if (!isJsonObject(multivariate) || !Array.isArray(multivariate.variants)) return [];
  return multivariate.variants.filter(isJsonObject);
}

/** The property filters of a condition; whatever is not an object is left out. */
export function propertiesOf(condition: JsonObject): JsonObject[] {
  return Array.isArray(condition.properties) ? condition.properties.filter(isJsonObject) : [];
}

/**
 * The rollout percentage of a simple flag: one condition without property filters and no variants.
 * Null for every other flag, and for a simple one that states none. The interface has it as a whole
 * number, so a fraction is rounded here; the condition itself keeps it.
 */
export function simpleRollout(filters: JsonObject): {
  isSimple: boolean;
  rolloutPercentage: number | null;
} {
  const [condition, ...others] = conditionsOf(filters);
  const isSimple =
    condition !== undefined &&
    others.length === 0 &&
    propertiesOf(condition).length === 0 &&
    variantsOf(filters).length === 0;
  const percentage = condition?.rollout_percentage;
  return {
    isSimple,
    rolloutPercentage: isSimple && typeof percentage === 'number' ? Math.round(percentage) : null,
  };
}
