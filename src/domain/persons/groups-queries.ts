import type { JsonObject } from '../common/json.ts';
import { toStoredGroupName } from '../common/stored-text.ts';
import type { Db } from '../database/db.ts';
import type { GroupTypeRow } from '../database/tables.ts';

/** A kind of group as people see it. */
export interface NamedGroupType {
  readonly index: number;
  readonly groupType: string;
  readonly nameSingular: string | null;
  readonly namePlural: string | null;
  readonly createdAt: Date;
}

/** The project's group types with their names for people, by index. */
export async function listNamedGroupTypes(db: Db, projectId: number): Promise<NamedGroupType[]> {
  const rows = await db('group_types').where({ project_id: projectId }).orderBy('group_type_index');
  return rows.map(toNamedGroupType);
}

/** A group as it is stored. */
export interface Group {
  readonly index: number;
  readonly key: string;
  readonly properties: JsonObject;
  readonly createdAt: Date;
}

export interface ListGroupsFilter {
  readonly projectId: number;
  readonly index: number;
  readonly key?: string | undefined;
  /** Only groups whose key comes after this one. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Groups of one type by their keys. */
export async function listGroups(db: Db, filter: ListGroupsFilter): Promise<Group[]> {
  const { projectId, index, key, after, limit } = filter;
  const query = db('groups').where({ project_id: projectId, group_type_index: index });
  if (key !== undefined) query.andWhere({ group_key: toStoredGroupName(key) });
  if (after !== undefined) query.andWhere('group_key', '>', toStoredGroupName(after));
  const rows = await query.orderBy('group_key').limit(limit);
  return rows.map((row) => ({
    index: row.group_type_index,
    key: row.group_key,
    properties: row.properties,
    createdAt: row.created_at,
  }));
}

function toNamedGroupType(row: GroupTypeRow): NamedGroupType {
  return {
    index: row.group_type_index,
    groupType: row.group_type,
    nameSingular: row.name_singular,
    namePlural: row.name_plural,
    createdAt: row.created_at,
  };
}
