import type { Db } from '../database/db.ts';
import type { JsonObject } from '../json.ts';
import { toStoredDistinctId } from './stored-text.ts';

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
