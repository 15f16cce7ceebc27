import type {
  CohortNode,
  PersonCreatedAtFilter,
  PersonFilter,
  PreparedCondition,
  PreparedFilter,
  Snapshot,
} from '../evaluation/model/snapshot.ts';
import type { DateClock } from '../evaluation/values/relative-date.ts';
import { comparisonSql, createdAtSql, FALSE, TRUE, UNDECIDED } from './comparison-sql.ts';
import { joinSql, type Sql, sql } from './sql.ts';

/** The most comparisons in one statement. What is larger is left to the engine as a whole. */
const COMPARISONS_MAX = 500;

/**
 * The first of a person's distinct ids that no SDK made up, in byte order, else the first of all:
 * the one under which a person who logged in is known. `s` is the person's row.
 */
export const PRINCIPAL_DISTINCT_ID = sql`coalesce((SELECT d.distinct_id FROM person_distinct_ids d WHERE d.person_id = s.id ORDER BY d.distinct_id ~ '^([a-z0-9]+-){4}[a-z0-9]+$', d.distinct_id COLLATE "C" LIMIT 1), '')`;

/** Whether the person of row `s` is in a static cohort. */
export function membershipSql(cohortId: number): Sql {
  return sql`EXISTS (SELECT FROM cohort_members m WHERE m.cohort_id = ${cohortId}::int AND m.person_id = s.id)`;
}

/** The stored value of a property key of row `s` as jsonb; SQL's null when it is missing. */
export type StoredValueSql = (key: string) => Sql;

interface Writing {
  readonly snapshot: Snapshot;
  readonly clock: DateClock;
  readonly storedValue: StoredValueSql;
  comparisons: number;
}

/**
 * A condition as SQL about the row `s` of `subjectRows`: true, false, or null where only the engine
 * can tell. SQL's three-valued AND, OR and NOT carry the null to the top exactly when what is
 * undecided matters.
 */
export function conditionSql(
  condition: PreparedCondition,
  snapshot: Snapshot,
  clock: DateClock,
  storedValue: StoredValueSql,
): Sql {
  const writing: Writing = { snapshot, clock, storedValue, comparisons: 0 };
  const all = joinAll(
    condition.filters.map((filter) => filterSql(filter, writing)),
    false,
  );
  return writing.comparisons > COMPARISONS_MAX ? UNDECIDED : all;
}

function filterSql(filter: PreparedFilter, writing: Writing): Sql {
  switch (filter.kind) {
    case 'never':
    case 'flag':
      return FALSE;
    case 'group':
      writing.comparisons += 1;
      return comparisonSql(
        filter,
        filter.key === '$group_key' ? sql`to_jsonb(s.group_key)` : writing.storedValue(filter.key),
      );
    case 'cohort':
      return negateIf(cohortSql(filter.cohortId, writing), filter.isNegated);
    default:
      return personSql(filter, writing);
  }
}

function personSql(filter: PersonFilter | PersonCreatedAtFilter, writing: Writing): Sql {
  writing.comparisons += 1;
  if (filter.kind === 'person_created_at') {
    return createdAtSql(filter, sql`s.created_at`, writing.clock);
  }
  return comparisonSql(filter, personValueSql(filter, writing.storedValue));
}

function personValueSql({ key, fallbackKeys }: PersonFilter, storedValue: StoredValueSql): Sql {
  // What a request is about, and never what is stored under that name.
  if (key === 'distinct_id') return sql`to_jsonb(s.distinct_id)`;
  if (fallbackKeys.length === 0) return storedValue(key);
  return sql`coalesce(${joinSql([key, ...fallbackKeys].map(storedValue), ', ')})`;
}

function cohortSql(id: number, writing: Writing): Sql {
  const cohort = writing.snapshot.cohorts.get(id);
  if (cohort === undefined) return FALSE;
  if (cohort.isStatic) {
    writing.comparisons += 1;
    return membershipSql(id);
  }
  if (cohort.root === null || writing.comparisons > COMPARISONS_MAX) return FALSE;
  return nodeSql(cohort.root, writing);
}

function nodeSql(node: CohortNode, writing: Writing): Sql {
  return negateIf(positiveSql(node, writing), node.isNegated);
}

function positiveSql(node: CohortNode, writing: Writing): Sql {
  switch (node.kind) {
    case 'never':
      return FALSE;
    case 'property':
      return personSql(node.filter, writing);
    case 'cohort':
      return cohortSql(node.cohortId, writing);
    case 'group':
      return joinAll(
        node.children.map((child) => nodeSql(child, writing)),
        node.isAny,
      );
  }
}

function joinAll(pieces: readonly Sql[], isAny: boolean): Sql {
  if (pieces.length === 0) return isAny ? FALSE : TRUE;
  return sql`(${joinSql(pieces, isAny ? ' OR ' : ' AND ')})`;
}

function negateIf(piece: Sql, isNegated: boolean): Sql {
  return isNegated ? sql`(NOT ${piece})` : piece;
}
