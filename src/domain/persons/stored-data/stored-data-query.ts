import type { ClientBase } from 'pg';
import type { JsonObject } from '../../common/json.ts';
import { toStoredDistinctId, toStoredGroupName } from '../../common/stored-text.ts';

/** What one evaluation has to know of the database. */
export interface StoredLookup {
  readonly projectId: number;
  /** The subject first; others are persons whose kept identifiers matter as well. */
  readonly distinctIds: readonly string[];
  readonly groups: readonly { readonly index: number; readonly key: string }[];
  readonly staticCohortIds: readonly number[];
  readonly wantsOverrides: boolean;
}

/** A person or a group that some look-up asked for. Columns that nobody asked for are absent. */
export interface StoredRow {
  readonly lookup_index: number;
  /** Null for a group. */
  readonly id_index: number | null;
  readonly group_type_index?: number | null;
  readonly id: number | null;
  readonly properties: JsonObject;
  /** Milliseconds since 1970. */
  readonly created_at: number | null;
  readonly cohort_ids?: number[] | null;
  readonly overrides?: Record<string, string> | null;
}

/** Finds everything that these look-ups ask for, in one query. */
export async function queryStoredData(
  client: ClientBase,
  lookups: readonly StoredLookup[],
): Promise<readonly StoredRow[]> {
  const wanted = collect(lookups);
  const statement = statementFor({
    hasGroups: wanted.groupKeys.length > 0,
    hasCohorts: wanted.cohortIds.size > 0,
    hasOverrides: lookups.some((lookup) => lookup.wantsOverrides),
  });
  const values: unknown[] = [
    integers(wanted.lookupIndexes),
    integers(wanted.idIndexes),
    integers(wanted.projectIds),
    wanted.distinctIds,
  ];
  if (wanted.cohortIds.size > 0) values.push(integers([...wanted.cohortIds]));
  if (wanted.groupKeys.length > 0) {
    values.push(
      integers(wanted.groupLookupIndexes),
      integers(wanted.groupProjectIds),
      integers(wanted.groupTypeIndexes),
      wanted.groupKeys,
    );
  }
  return (await client.query<StoredRow>({ ...statement, values })).rows;
}

/** The parameters of a query, column by column. */
function collect(lookups: readonly StoredLookup[]) {
  const wanted = {
    lookupIndexes: [] as number[],
    idIndexes: [] as number[],
    projectIds: [] as number[],
    distinctIds: [] as string[],
    groupLookupIndexes: [] as number[],
    groupProjectIds: [] as number[],
    groupTypeIndexes: [] as number[],
    groupKeys: [] as string[],
    cohortIds: new Set<number>(),
  };
  for (const [lookupIndex, lookup] of lookups.entries()) {
    for (const [idIndex, distinctId] of lookup.distinctIds.entries()) {
      wanted.lookupIndexes.push(lookupIndex);
      wanted.idIndexes.push(idIndex);
      wanted.projectIds.push(lookup.projectId);
      wanted.distinctIds.push(toStoredDistinctId(distinctId));
    }
    for (const { index, key } of lookup.groups) {
      wanted.groupLookupIndexes.push(lookupIndex);
      wanted.groupProjectIds.push(lookup.projectId);
      wanted.groupTypeIndexes.push(index);
      wanted.groupKeys.push(toStoredGroupName(key));
    }
    for (const id of lookup.staticCohortIds) wanted.cohortIds.add(id);
  }
  return wanted;
}

/** An array as PostgreSQL reads it; integers need none of the quoting that `pg` would try. */
function integers(values: readonly number[]): string {
  return `{${values.join(',')}}`;
}

interface Parts {
  readonly hasGroups: boolean;
  readonly hasCohorts: boolean;
  readonly hasOverrides: boolean;
}

interface Statement {
  readonly name: string;
  readonly text: string;
}

const statements = new Map<number, Statement>();

/** One statement for each combination of parts, prepared once by each connection. */
function statementFor(parts: Parts): Statement {
  const key =
    Number(parts.hasGroups) + 2 * Number(parts.hasCohorts) + 4 * Number(parts.hasOverrides);
  let statement = statements.get(key);
  if (statement === undefined) {
    statement = { name: `stored-data-${key}`, text: sql(parts) };
    statements.set(key, statement);
  }
  return statement;
}

function sql({ hasGroups, hasCohorts, hasOverrides }: Parts): string {
  let places = 4;
  const place = () => {
    places += 1;
    return `$${places}`;
  };
  const cohorts = hasCohorts
    ? `, ARRAY(SELECT m.cohort_id FROM cohort_members m
               WHERE m.person_id = p.id AND m.cohort_id = ANY (${place()}::int[])) AS cohort_ids`
    : '';
  const overrides = hasOverrides
    ? `, (SELECT jsonb_object_agg(o.feature_flag_key, o.hash_key) FROM hash_key_overrides o
          WHERE o.person_id = p.id) AS overrides`
    : '';
  const persons = `
    SELECT w.lookup_index, w.id_index, p.id, p.properties,
           floor(extract(epoch FROM p.created_at) * 1000)::float8 AS created_at
           ${hasGroups ? ', NULL::smallint AS group_type_index' : ''}${cohorts}${overrides}
    FROM unnest($1::int[], $2::int[], $3::int[], $4::text[])
           AS w (lookup_index, id_index, project_id, distinct_id)
    JOIN person_distinct_ids d ON d.project_id = w.project_id AND d.distinct_id = w.distinct_id
    JOIN persons p ON p.id = d.person_id`;
  if (!hasGroups) return persons;
  return `${persons}
    UNION ALL
    SELECT w.lookup_index, NULL, NULL, g.properties, NULL, g.group_type_index
           ${hasCohorts ? ', NULL' : ''}${hasOverrides ? ', NULL' : ''}
    FROM unnest(${place()}::int[], ${place()}::int[], ${place()}::smallint[], ${place()}::text[])
           AS w (lookup_index, project_id, group_type_index, group_key)
    JOIN groups g ON g.project_id = w.project_id
      AND g.group_type_index = w.group_type_index AND g.group_key = w.group_key`;
}
