import fc from 'fast-check';
import type { JsonObject } from '../../src/domain/common/json.ts';
import type { CohortDefinition } from '../../src/domain/evaluation/model/definitions.ts';
import { aCohort } from '../builders.ts';
import { decidableFilters, type PropertyFilter, toStoredFilter } from './property-filters.ts';

/** Cohorts by how far the client can evaluate them. */
export interface CohortSet {
  readonly definitions: readonly CohortDefinition[];
  readonly decidableIds: readonly number[];
  /** Static, old-style, without filters, or about events: the server's business. */
  readonly doubtfulIds: readonly number[];
}

type Leaf = Readonly<{ filter: PropertyFilter; negation: boolean | undefined; nested: number }>;
type Group = Readonly<{ type: string; leaves: readonly Leaf[] }>;
type Tree = Readonly<{ type: string; isFlat: boolean; groups: readonly Group[] }>;

const BEHAVIOURAL = {
  type: 'OR',
  values: [
    { key: 'purchase', type: 'behavioral', value: 'performed_event', time_value: 30 },
    { key: 'vip', type: 'person', operator: 'exact', value: true },
  ],
};

const ANY_OF = ['AND', 'OR'] as const;

const leaf: fc.Arbitrary<Leaf> = fc.record({
  filter: decidableFilters,
  negation: fc.constantFrom(undefined, undefined, false, true),
  nested: fc.nat({ max: 30 }),
});

const tree: fc.Arbitrary<Tree> = fc.record({
  type: fc.constantFrom(...ANY_OF),
  isFlat: fc.boolean(),
  groups: fc.array(
    fc.record({
      type: fc.constantFrom(...ANY_OF, 'property'),
      leaves: fc.oneof(
        { weight: 9, arbitrary: fc.array(leaf, { minLength: 1, maxLength: 3 }) },
        { weight: 1, arbitrary: fc.constant([]) },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

export const cohortSets: fc.Arbitrary<CohortSet> = fc
  .array(tree, { minLength: 4, maxLength: 8 })
  .map((trees) => {
    const dynamic = trees.map((each, at) =>
      aCohort({ id: at + 1, filters: { properties: toProperties(each, at) } }),
    );
    const doubtful = [
      aCohort({ id: 101, isStatic: true, cohortType: 'static' }),
      aCohort({ id: 102, groups: [{ properties: [{ key: 'plan', value: 'pro' }] }] }),
      aCohort({ id: 103 }),
      aCohort({ id: 104, cohortType: 'behavioral', filters: { properties: BEHAVIOURAL } }),
    ];
    return {
      definitions: [...dynamic, ...doubtful],
      decidableIds: dynamic.map(({ id }) => id),
      doubtfulIds: doubtful.map(({ id }) => id),
    };
  });

/** The tree as it is stored; its cohorts are among the first `earlier`, whose ids start at 1. */
function toProperties({ type, isFlat, groups }: Tree, earlier: number): JsonObject {
  const stored = groups.map((group) => ({
    type: group.type,
    values: group.leaves.map((each) => toLeaf(each, earlier)),
  }));
  const [only] = stored;
  return isFlat && only !== undefined ? only : { type, values: stored };
}

function toLeaf({ filter, negation, nested }: Leaf, earlier: number): JsonObject {
  const negated = negation === undefined ? {} : { negation };
  if (nested >= 1 && nested <= earlier) {
    return { key: 'id', type: 'cohort', value: nested, ...negated };
  }
  return { ...toStoredFilter(filter, null), ...negated };
}
