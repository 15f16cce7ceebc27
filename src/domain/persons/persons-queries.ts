import type { JsonObject } from '../common/json.ts';
import { toStoredDistinctId } from '../common/stored-text.ts';
import type { Db } from '../database/db.ts';
import type { Statements } from '../database/pipeline.ts';
import type { GroupTypeRow, PersonRow } from '../database/tables.ts';

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

/** The person that the distinct id belongs to now, or null. */
export async function getPersonByDistinctId(
  db: Db,
  projectId: number,
  distinctId: string,
): Promise<Person | null> {
  const owner = `id = (SELECT person_id FROM person_distinct_ids
                       WHERE project_id = ? AND distinct_id = ?)`;
  const ids = [projectId, toStoredDistinctId(distinctId)];
  const [person = null] = await selectPersons(db, projectId, { sql: owner, bindings: ids }, 1);
  return person;
}

/** The person with this uuid, or null. The text has to be a uuid. */
export async function getPersonByUuid(
  db: Db,
  projectId: number,
  uuid: string,
): Promise<Person | null> {
  const [person = null] = await selectPersons(
    db,
    projectId,
    { sql: 'uuid = ?::uuid', bindings: [uuid] },
    1,
  );
  return person;
}

/** The persons that were stored before the one with this id, the last one first. */
export async function listPersonsBefore(
  db: Db,
  projectId: number,
  { id, limit }: { readonly id: number; readonly limit: number },
): Promise<Person[]> {
  return selectPersons(db, projectId, { sql: 'id < ?', bindings: [id] }, limit);
}

type SelectedPerson = Pick<
  PersonRow,
  'id' | 'uuid' | 'properties' | 'is_identified' | 'created_at'
> & { readonly distinct_ids: string[] };

interface Condition {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

async function selectPersons(
  db: Db,
  projectId: number,
  condition: Condition,
  limit: number,
): Promise<Person[]> {
  const { rows } = await db.raw<{ rows: SelectedPerson[] }>(
    `SELECT p.id, p.uuid, p.properties, p.is_identified, p.created_at,
       ARRAY(SELECT d.distinct_id FROM person_distinct_ids d
             WHERE d.person_id = p.id ORDER BY d.distinct_id) AS distinct_ids
     FROM persons p
     WHERE p.project_id = ? AND p.${condition.sql}
     ORDER BY p.id DESC LIMIT ?`,
    [projectId, ...condition.bindings, limit],
  );
  return rows.map((row) => ({
    id: row.id,
    uuid: row.uuid,
    distinctIds: row.distinct_ids,
    properties: row.properties,
    isIdentified: row.is_identified,
    createdAt: row.created_at,
  }));
}

/** The project's group types by index. */
export async function listGroupTypes(db: Statements, projectId: number): Promise<GroupType[]> {
  const found: { rows: Pick<GroupTypeRow, 'group_type_index' | 'group_type'>[] } = await db.raw(
    `SELECT group_type_index, group_type FROM group_types
     WHERE project_id = ? ORDER BY group_type_index`,
    [projectId],
  );
  return found.rows.map((row) => ({ index: row.group_type_index, groupType: row.group_type }));
}
