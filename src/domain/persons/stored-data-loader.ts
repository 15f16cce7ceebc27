import type { ClientBase } from 'pg';
import { toDomainError } from '../database/database-error.ts';
import type { Db } from '../database/db.ts';
import type { JsonObject } from '../json.ts';
import { toStoredDistinctId, toStoredGroupName } from './stored-text.ts';

/** What one evaluation has to know of the database. */
export interface StoredLookup {
  readonly projectId: number;
  /** The subject first; others are persons whose kept identifiers matter as well. */
  readonly distinctIds: readonly string[];
  readonly groups: readonly { readonly index: number; readonly key: string }[];
  readonly staticCohortIds: readonly number[];
  readonly wantsOverrides: boolean;
}

/** One person as a look-up found it. */
export interface FoundPerson {
  readonly id: number;
  readonly properties: JsonObject;
  readonly createdAt: Date;
  /** Of the static cohorts that were asked for. */
  readonly cohortIds: ReadonlySet<number>;
  readonly overrides: ReadonlyMap<string, string>;
}

export interface FoundData {
  /** In the order of the look-up's distinct ids; null where nobody is stored. */
  readonly persons: readonly (FoundPerson | null)[];
  readonly groups: ReadonlyMap<number, JsonObject>;
}

/** Looks stored data up. Rejects with `unavailable` when the database is away. */
export type LoadStoredData = (lookup: StoredLookup) => Promise<FoundData>;

interface Waiting {
  readonly lookup: StoredLookup;
  readonly resolve: (found: FoundData) => void;
  readonly reject: (error: unknown) => void;
}

/** Queries that run at the same time; look-ups that come meanwhile share the next one. */
const QUERIES_MAX = 2;

/** The most look-ups in one query, so that none gets too long. */
const BATCH_MAX = 200;

/** Look-ups that may wait; beyond it the database counts as unavailable. */
const WAITING_MAX = 10_000;

/**
 * Look-ups of concurrent evaluations that share queries. An idle database is asked at once; while
 * it is busy, what comes meanwhile goes together in one query, so the load on it stays the same.
 */
export function createStoredDataLoader(db: Db): LoadStoredData {
  const waiting: Waiting[] = [];
  let running = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || running >= QUERIES_MAX || waiting.length === 0) return;
    isScheduled = true;
    // Whatever else arrives in this turn of the event loop travels along.
    setImmediate(() => {
      isScheduled = false;
      const batch = waiting.splice(0, BATCH_MAX);
      if (batch.length === 0) return;
      running += 1;
      void run(db, batch).finally(() => {
        running -= 1;
        schedule();
      });
      schedule();
    });
  }

  return (lookup) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= WAITING_MAX) {
        reject(toDomainError(new Error('timeout exceeded when trying to connect')));
        return;
      }
      waiting.push({ lookup, resolve, reject });
      schedule();
    });
}

/** Runs one query for a batch and hands each look-up its part; never rejects. */
async function run(db: Db, batch: readonly Waiting[]): Promise<void> {
  try {
    const rows = await query(
      db,
      batch.map(({ lookup }) => lookup),
    );
    const found = batch.map(() => ({
      persons: new Map<number, FoundPersonDraft>(),
      groups: new Map<number, JsonObject>(),
    }));
    for (const row of rows) addRow(found[row.lookup_index], row);
    for (const [index, { lookup, resolve }] of batch.entries()) {
      const { persons, groups } = found[index] ?? { persons: new Map(), groups: new Map() };
      resolve({
        persons: lookup.distinctIds.map((_, position) => persons.get(position) ?? null),
        groups,
      });
    }
  } catch (error) {
    const cause = toDomainError(error);
    for (const { reject } of batch) reject(cause);
  }
}

interface FoundPersonDraft extends FoundPerson {
  readonly cohortIds: Set<number>;
  readonly overrides: Map<string, string>;
}

interface StoredRow {
  readonly lookup_index: number;
  /** Null for a group. */
  readonly id_index: number | null;
  readonly group_type_index: number | null;
  readonly id: number | null;
  readonly properties: JsonObject;
  readonly created_at: Date | null;
  readonly cohort_ids: number[] | null;
  readonly overrides: Record<string, string> | null;
}

function addRow(
  found: { persons: Map<number, FoundPersonDraft>; groups: Map<number, JsonObject> } | undefined,
  row: StoredRow,
): void {
  if (found === undefined) return;
  if (row.group_type_index !== null) found.groups.set(row.group_type_index, row.properties);
  if (row.id_index === null || row.id === null || row.created_at === null) return;
  found.persons.set(row.id_index, {
    id: row.id,
    properties: row.properties,
    createdAt: row.created_at,
    cohortIds: new Set(row.cohort_ids ?? []),
    overrides: new Map(Object.entries(row.overrides ?? {})),
  });
}

async function query(db: Db, lookups: readonly StoredLookup[]): Promise<readonly StoredRow[]> {
  const ids = lookups.flatMap(({ projectId, distinctIds }, lookupIndex) =>
    distinctIds.map((distinctId, idIndex) => ({ projectId, distinctId, lookupIndex, idIndex })),
  );
  const groups = lookups.flatMap((lookup, lookupIndex) =>
    lookup.groups.map((group) => ({ ...group, projectId: lookup.projectId, lookupIndex })),
  );
  const cohortIds = [...new Set(lookups.flatMap((lookup) => lookup.staticCohortIds))];
  const parts = {
    hasGroups: groups.length > 0,
    hasCohorts: cohortIds.length > 0,
    hasOverrides: lookups.some((lookup) => lookup.wantsOverrides),
  };
  const values: unknown[] = [
    ids.map((id) => id.lookupIndex),
    ids.map((id) => id.idIndex),
    ids.map((id) => id.projectId),
    ids.map((id) => toStoredDistinctId(id.distinctId)),
  ];
  const place = (value: unknown) => `$${values.push(value)}`;
  const text = sql(parts, {
    cohortIds: () => place(cohortIds),
    groups: () => [
      place(groups.map((group) => group.lookupIndex)),
      place(groups.map((group) => group.projectId)),
      place(groups.map((group) => group.index)),
      place(groups.map((group) => toStoredGroupName(group.key))),
    ],
  });
  const name = `stored-data-${Number(parts.hasGroups)}${Number(parts.hasCohorts)}${Number(parts.hasOverrides)}`;
  // Knex cannot name a statement, so the connection is borrowed from its pool.
  const client: ClientBase = await db.client.acquireConnection();
  try {
    return (await client.query<StoredRow>({ name, text, values })).rows;
  } finally {
    await db.client.releaseConnection(client);
  }
}

interface Parts {
  readonly hasGroups: boolean;
  readonly hasCohorts: boolean;
  readonly hasOverrides: boolean;
}

/** One statement for each combination of parts, prepared once by each connection. */
function sql(
  parts: Parts,
  places: { cohortIds: () => string; groups: () => readonly string[] },
): string {
  const cohorts = parts.hasCohorts
    ? `ARRAY(SELECT m.cohort_id FROM cohort_members m
             WHERE m.person_id = p.id AND m.cohort_id = ANY (${places.cohortIds()}::int[]))`
    : 'NULL::int[]';
  const overrides = parts.hasOverrides
    ? `(SELECT jsonb_object_agg(o.feature_flag_key, o.hash_key) FROM hash_key_overrides o
        WHERE o.person_id = p.id)`
    : 'NULL::jsonb';
  const persons = `
    SELECT w.lookup_index, w.id_index, NULL::smallint AS group_type_index, p.id, p.properties,
           p.created_at, ${cohorts} AS cohort_ids, ${overrides} AS overrides
    FROM unnest($1::int[], $2::int[], $3::int[], $4::text[])
           AS w (lookup_index, id_index, project_id, distinct_id)
    JOIN person_distinct_ids d ON d.project_id = w.project_id AND d.distinct_id = w.distinct_id
    JOIN persons p ON p.id = d.person_id`;
  if (!parts.hasGroups) return persons;
  const [lookupIndexes, projectIds, typeIndexes, keys] = places.groups();
  return `${persons}
    UNION ALL
    SELECT w.lookup_index, NULL, g.group_type_index, NULL, g.properties, NULL, NULL, NULL
    FROM unnest(${lookupIndexes}::int[], ${projectIds}::int[], ${typeIndexes}::smallint[],
                ${keys}::text[]) AS w (lookup_index, project_id, group_type_index, group_key)
    JOIN groups g ON g.project_id = w.project_id
      AND g.group_type_index = w.group_type_index AND g.group_key = w.group_key`;
}
