import { PRINCIPAL_DISTINCT_ID, type StoredValueSql } from './condition-sql.ts';
import { joinSql, Sql, sql } from './sql.ts';

/** Which persons or groups are counted, and what of them the filters look at. */
export interface Subjects {
  readonly projectId: number;
  /** null = persons. */
  readonly groupTypeIndex: number | null;
  /** Keys of properties. */
  readonly keys: readonly string[];
  readonly needsDistinctId: boolean;
}

/** The subjects as the rows `s` of a statement, and how their properties are named in it. */
export interface SubjectRows {
  /** What stands behind FROM. */
  readonly from: Sql;
  readonly storedValue: StoredValueSql;
}

/** The most columns of values: a table of PostgreSQL has at most 1,600. */
const COLUMNS_MAX = 500;

/**
 * Rows of persons or groups with every value that is looked at taken out once: a comparison mentions
 * its value several times, and taking it out is the larger part of comparing it.
 */
export function subjectRows({
  projectId,
  groupTypeIndex,
  keys,
  needsDistinctId,
}: Subjects): SubjectRows {
  const columns = new Map(keys.slice(0, COLUMNS_MAX).map((key, at) => [key, `value_${at}`]));
  const values = [...columns].map(([key, column]) => sql`, ${extract(key)} AS ${named(column)}`);
  const own =
    groupTypeIndex === null
      ? sql`s.id, s.created_at, ${needsDistinctId ? PRINCIPAL_DISTINCT_ID : sql`''::text`} AS distinct_id`
      : sql`s.group_key, NULL::timestamptz AS created_at`;
  const table =
    groupTypeIndex === null
      ? sql`persons s WHERE s.project_id = ${projectId}::int`
      : sql`groups s WHERE s.project_id = ${projectId}::int AND s.group_type_index = ${groupTypeIndex}::int`;
  return {
    // OFFSET 0 keeps what is taken out from being put back wherever it is mentioned.
    from: sql`(SELECT ${own}, s.properties${joinSql(values, '')} FROM ${table} OFFSET 0) s`,
    storedValue: (key) => {
      const column = columns.get(key);
      return column === undefined ? extract(key) : sql`s.${named(column)}`;
    },
  };
}

function extract(key: string): Sql {
  return sql`(s.properties -> ${key}::text)`;
}

/** A name of this module's own making, which needs no quotes. */
function named(column: string): Sql {
  return new Sql([column]);
}
