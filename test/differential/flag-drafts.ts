import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/domain/common/json.ts';
import { hash } from '../../src/domain/evaluation/bucketing/hash.ts';
import {
  decidableFilters,
  doubtfulFilters,
  type PropertyFilter,
  toStoredFilter,
} from './property-filters.ts';

export const GROUP_TYPES = ['company', 'project'] as const;
export const CONTEXT_NAMES = ['web', 'mobile'] as const;
/** Distinct ids and group keys whose exact draw is used as a rollout percentage. */
export const REGULARS = ['ada', 'Бо', 'c'] as const;

/** What a filter may refer to when its flag is built. */
export interface Surroundings {
  readonly flagKey: string;
  readonly groupTypeIndex: number | null;
  readonly cohortIds: readonly number[];
  readonly dependencies: readonly { readonly id: number; readonly variants: readonly string[] }[];
}

type Reference = Readonly<{ kind: 'cohort' | 'flag'; pick: number; expect: number }>;
type FilterDraft = PropertyFilter | Reference;
type RolloutDraft = Readonly<{ percentage: number | null | undefined; regular: string | null }>;

export interface ConditionDraft {
  readonly filters: readonly FilterDraft[];
  readonly rollout: RolloutDraft;
  readonly pinned: number;
  readonly groupType: number | null | undefined;
}

export interface FlagDraft {
  /** Boolean without early exit: an undecided condition cannot change which value wins. */
  readonly isDoubtful: boolean;
  readonly active: boolean;
  readonly contexts: readonly string[];
  readonly groupType: number | null | undefined;
  readonly isContinuous: boolean;
  readonly isDeviceBucketed: boolean;
  readonly conditions: readonly ConditionDraft[];
  readonly variants: readonly JsonObject[];
  readonly payloads: readonly JsonValue[];
  readonly holdout: JsonObject | null | undefined;
  readonly earlyExit: boolean | null | undefined;
}

const references: fc.Arbitrary<Reference> = fc.record({
  kind: fc.constantFrom('cohort', 'flag'),
  pick: fc.nat(),
  expect: fc.nat({ max: 5 }),
});

const percentages = fc.oneof(
  fc.constantFrom(0, 1, 33.33, 50, 66.6667, 99.99, 100, 100, 100, 100, null, undefined),
  fc.double({ min: 0, max: 100, noNaN: true }),
);
const rollouts: fc.Arbitrary<RolloutDraft> = fc.record({
  percentage: percentages,
  regular: fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...REGULARS) },
  ),
});

function conditionDrafts(filters: fc.Arbitrary<FilterDraft>): fc.Arbitrary<ConditionDraft> {
  return fc.record({
    filters: fc.oneof(
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 4, arbitrary: fc.array(filters, { minLength: 1, maxLength: 1 }) },
      { weight: 2, arbitrary: fc.array(filters, { minLength: 2, maxLength: 3 }) },
    ),
    rollout: rollouts,
    pinned: fc.nat({ max: 7 }),
    groupType: fc.constantFrom(undefined, undefined, undefined, undefined, null, 0, 1),
  });
}

const decidableConditions = conditionDrafts(
  fc.oneof({ weight: 3, arbitrary: decidableFilters }, { weight: 1, arbitrary: references }),
);
const doubtfulConditions = conditionDrafts(
  fc.oneof(
    { weight: 3, arbitrary: decidableFilters },
    { weight: 2, arbitrary: doubtfulFilters },
    { weight: 1, arbitrary: references },
  ),
);

const variantSplits = fc.constantFrom<readonly number[]>(
  [100],
  [50, 50],
  [33.33, 33.33, 33.34],
  [0, 100, 0],
  [12.5, 0.1, 87.4],
  [20, 20, 20, 40],
);
const variantKeys = ['control', 'test', 'true', 'A/b_1.0'] as const;
const variants = variantSplits.map((split) =>
  split.flatMap((percentage, at) => {
    const key = variantKeys[at];
    return key === undefined ? [] : [{ key, rollout_percentage: percentage }];
  }),
);
const payloads = fc.array(
  fc.constantFrom<JsonValue>('{"a": 1}', '"text"', '12.5', 'null', '0', { b: [true] }, [1, 'x']),
  { maxLength: 4 },
);
const holdouts = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(undefined, null) },
  {
    weight: 1,
    arbitrary: fc.record({
      id: fc.constantFrom(1, 7),
      // At most 90: a missing group has the empty identifier, which draws 0.927.
      exclusion_percentage: fc.constantFrom(0, 12.5, 50, 90),
    }),
  },
);

function rarely(percent: number): fc.Arbitrary<boolean> {
  return fc.nat({ max: 99 }).map((drawn) => drawn >= 100 - percent);
}

const common = {
  active: rarely(5).map((isOff) => !isOff),
  contexts: fc.oneof(
    { weight: 8, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.subarray([...CONTEXT_NAMES]) },
  ),
  groupType: fc.constantFrom(undefined, undefined, null, null, 0, 1),
  isContinuous: rarely(2),
  isDeviceBucketed: rarely(6),
  payloads,
  holdout: holdouts,
};

const decidableFlags: fc.Arbitrary<FlagDraft> = fc.record({
  ...common,
  isDoubtful: fc.constant(false),
  conditions: fc.array(decidableConditions, { minLength: 1, maxLength: 4 }),
  variants: fc.oneof(fc.constant([]), variants),
  earlyExit: fc.constantFrom(undefined, null, false, true, true),
});
const doubtfulFlags: fc.Arbitrary<FlagDraft> = fc.record({
  ...common,
  isDoubtful: fc.constant(true),
  conditions: fc.array(doubtfulConditions, { minLength: 1, maxLength: 3 }),
  variants: fc.constant([]),
  earlyExit: fc.constantFrom(undefined, null, false),
});

/** Flags whose answer is that of one filter. */
const plainFlags: fc.Arbitrary<FlagDraft> = fc.record({
  ...common,
  isDoubtful: fc.constant(false),
  active: fc.constant(true),
  isContinuous: fc.constant(false),
  holdout: fc.constant(null),
  conditions: fc.tuple(
    fc.record({
      filters: fc.tuple(
        fc.oneof({ weight: 6, arbitrary: decidableFilters }, { weight: 1, arbitrary: references }),
      ),
      rollout: fc.constant({ percentage: 100, regular: null }),
      pinned: fc.constant(0),
      groupType: fc.constantFrom(undefined, undefined, null, 0),
    }),
  ),
  variants: fc.constant([]),
  earlyExit: fc.constant(undefined),
});

export const flagDrafts: fc.Arbitrary<FlagDraft> = fc.oneof(
  { weight: 4, arbitrary: decidableFlags },
  { weight: 3, arbitrary: plainFlags },
  { weight: 1, arbitrary: doubtfulFlags },
);

/** The condition as it is stored. */
export function toCondition(
  draft: ConditionDraft,
  variantKeysOfFlag: readonly string[],
  surroundings: Surroundings,
): JsonObject {
  const properties = draft.filters.flatMap((filter) => toFilter(filter, surroundings) ?? []);
  const { percentage, regular } = draft.rollout;
  const exact = regular === null ? percentage : hash(`${surroundings.flagKey}.${regular}`) * 100;
  const variant = variantKeysOfFlag[draft.pinned];
  return {
    properties,
    ...(exact === undefined ? {} : { rollout_percentage: exact }),
    ...(variant === undefined ? {} : { variant }),
  };
}

/** The filter as it is stored; null when there is nothing to refer to. */
function toFilter(draft: FilterDraft, surroundings: Surroundings): JsonObject | null {
  const { groupTypeIndex, cohortIds, dependencies } = surroundings;
  if (!('kind' in draft)) return toStoredFilter(draft, groupTypeIndex);
  // A condition on groups holds group properties only.
  if (groupTypeIndex !== null) return null;
  if (draft.kind === 'cohort') {
    const value = cohortIds[draft.pick % cohortIds.length];
    if (value === undefined) return null;
    const operator = [{ operator: 'in' }, { operator: 'not_in' }, {}][draft.expect % 3];
    return { key: 'id', type: 'cohort', value, ...operator };
  }
  const target = dependencies[draft.pick % dependencies.length];
  if (target === undefined) return null;
  const expected = [true, false, ...target.variants, 'holdout-1'];
  return {
    key: String(target.id),
    type: 'flag',
    operator: 'flag_evaluates_to',
    value: expected[draft.expect % expected.length] ?? true,
  };
}
