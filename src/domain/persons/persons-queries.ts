import type { ClientBase } from 'pg';
import { toDomainError } from '../database/database-error.ts';
import type { Db } from '../database/db.ts';
import type { JsonObject } from '../json.ts';
import { toStoredDistinctId, toStoredGroupName } from './stored-text.ts';

/** A person as it is stored. */
export interface Person {
  readonly id: number;
  readonly uuid: string;
  readonly distinctIds: readonly string[];
  readonly properties: JsonObject;
  readonly isIdentified: boolean;
  readonly createdAt: Date;
}

/** A kind of group and the index under which flags and events refer to it. */
export interface GroupType {
  readonly index: number;
  readonly groupType: string;
}

/** One group, by the index of its type. */
export interface GroupReference {
  readonly index: number;
  readonly key: string;
}

/** The stored data that an evaluation may need. */
export interface StoredProperties {
  readonly person: {
    readonly id: number;
    readonly properties: JsonObject;
    readonly createdAt: Date;
  } | null;
  /** By index; groups that are not stored are absent. */
  readonly groups: ReadonlyMap<number, JsonObject>;
}

/** The person that the distinct id belongs to now, or null. */
export async function getPersonByDistinctId(
  db: Db,
  projectId: number,
  distinctId: string,
): Promise<Person | null> {
  const row = await db('person_distinct_ids AS d')
    .join('persons AS p', 'p.id', 'd.person_id')
    .where({ 'd.project_id': projectId, 'd.distinct_id': toStoredDistinctId(distinctId) })
    .first('p.id', 'p.uuid', 'p.properties', 'p.is_identified', 'p.created_at');
  if (row === undefined) return null;
  const ids = await db('person_distinct_ids')
    .where({ person_id: row.id })
    .orderBy('distinct_id')
    .pluck('distinct_id');
  return {
    id: row.id,
    uuid: row.uuid,
    distinctIds: ids,
    properties: row.properties,
    isIdentified: row.is_identified,
    createdAt: row.created_at,
  };
}

/** The project's group types by index. */
export async function listGroupTypes(db: Db, projectId: number): Promise<GroupType[]> {
  const rows = await db('group_types')
    .where({ project_id: projectId })
    .orderBy('group_type_index')
    .select('group_type_index', 'group_type');
  return rows.map((row) => ({ index: row.group_type_index, groupType: row.group_type }));
}

interface StoredRow {
  readonly group_type_index: number | null;
  readonly id: number | null;
  readonly properties: JsonObject;
  readonly created_at: Date | null;
}

const FIND_PERSON = `
  SELECT NULL::smallint AS group_type_index, p.id, p.properties, p.created_at
  FROM person_distinct_ids d JOIN persons p ON p.id = d.person_id
  WHERE d.project_id = $1 AND d.distinct_id = $2`;

const FIND_PERSON_AND_GROUPS = `${FIND_PERSON}
  UNION ALL
  SELECT g.group_type_index, NULL, g.properties, NULL
  FROM unnest($3::smallint[], $4::text[]) AS k (group_type_index, group_key)
  JOIN groups g ON g.project_id = $1
    AND g.group_type_index = k.group_type_index AND g.group_key = k.group_key`;

/**
 * The stored properties of one person and of some groups, in one round trip. Evaluations wait for
 * it, so it is a statement that each connection prepares once. Throws `unavailable` when the
 * database cannot answer.
 */
export async function findStoredProperties(
  db: Db,
  projectId: number,
  { distinctId, groups }: { distinctId: string; groups: readonly GroupReference[] },
): Promise<StoredProperties> {
  const person = [projectId, toStoredDistinctId(distinctId)];
  const query =
    groups.length === 0
      ? { name: 'find-person', text: FIND_PERSON, values: person }
      : {
          name: 'find-person-and-groups',
          text: FIND_PERSON_AND_GROUPS,
          values: [
            ...person,
            groups.map(({ index }) => index),
            groups.map(({ key }) => toStoredGroupName(key)),
          ],
        };
  try {
    // Knex cannot name a statement, so the connection is borrowed from its pool.
    const client: ClientBase = await db.client.acquireConnection();
    try {
      return toStoredProperties((await client.query<StoredRow>(query)).rows);
    } finally {
      await db.client.releaseConnection(client);
    }
  } catch (error) {
    throw toDomainError(error);
  }
}

function toStoredProperties(rows: readonly StoredRow[]): StoredProperties {
  let person: StoredProperties['person'] = null;
  const groups = new Map<number, JsonObject>();
  for (const { group_type_index, id, properties, created_at } of rows) {
    if (group_type_index !== null) {
      groups.set(group_type_index, properties);
    } else if (id !== null && created_at !== null) {
      person = { id, properties, createdAt: created_at };
    }
  }
  return { person, groups };
}
