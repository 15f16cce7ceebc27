import type { JsonObject, JsonValue } from '../../common/json.ts';
import type { Statements } from '../../database/pipeline.ts';
import type { GroupChange, NamedGroup } from '../model/group-changes.ts';

export { type GroupChange, readGroupChange } from '../model/group-changes.ts';

/** A project knows at most this many group types; later ones are ignored. */
const MAX_GROUP_TYPES = 5;

/** One event's change of a project's groups. */
export interface GroupEntry {
  readonly projectId: number;
  readonly timestamp: Date;
  readonly change: GroupChange | null;
}

/** Project id, then group type, to its index. */
export type KnownGroupTypes = ReadonlyMap<number, ReadonlyMap<string, number>>;

export interface GroupTypeIndexes {
  /** Has every type that an entry names, as far as its project has room for it. */
  readonly indexes: KnownGroupTypes;
  /** The projects that got a group type, which changes their configuration; in ascending order. */
  readonly projectIdsWithNewTypes: readonly number[];
}

interface GroupUpdate {
  readonly projectId: number;
  readonly groupTypeIndex: number;
  readonly groupKey: string;
  properties: Map<string, JsonValue>;
  createdAt: Date;
}

/** The group types of each project that any of the entries has to do with. Needs `lockPersons`. */
export async function loadGroupTypes(
  tx: Statements,
  entries: readonly Pick<GroupEntry, 'projectId' | 'change'>[],
): Promise<KnownGroupTypes> {
  const indexes = new Map<number, Map<string, number>>();
  const concerned = entries.filter(({ change }) => change !== null);
  if (concerned.length === 0) return indexes;
  const projectIds = new Set(concerned.map(({ projectId }) => projectId));
  const { rows }: { rows: GroupTypeRow[] } = await tx.raw(
    `SELECT project_id, group_type, group_type_index FROM group_types
     WHERE project_id = ANY (?::int[])`,
    [[...projectIds]],
  );
  for (const row of rows) {
    const types = indexes.get(row.project_id) ?? new Map<string, number>();
    indexes.set(row.project_id, types.set(row.group_type, row.group_type_index));
  }
  return indexes;
}

/**
 * Assigns indexes to the group types that the entries name and `known` lacks, in their order, and
 * returns them beside the known ones. Needs `lockPersons`. At most one statement.
 */
export async function assignGroupTypes(
  tx: Statements,
  entries: readonly GroupEntry[],
  known: KnownGroupTypes,
): Promise<GroupTypeIndexes> {
  const indexes = new Map(known);
  const added: { projectId: number; index: number; type: string }[] = [];
  for (const [projectId, types] of collectTypes(entries)) {
    const assigned = new Map(indexes.get(projectId));
    indexes.set(projectId, assigned);
    for (const type of types) {
      const index = findFreeIndex(assigned);
      if (assigned.has(type) || index === null) continue;
      assigned.set(type, index);
      added.push({ projectId, index, type });
    }
  }
  if (added.length > 0) {
    await tx.raw(
      `INSERT INTO group_types (project_id, group_type_index, group_type)
       SELECT * FROM unnest(?::int[], ?::smallint[], ?::text[])`,
      [
        added.map(({ projectId }) => projectId),
        added.map(({ index }) => index),
        added.map(({ type }) => type),
      ],
    );
  }
  const projectIds = new Set(added.map(({ projectId }) => projectId));
  return { indexes, projectIdsWithNewTypes: [...projectIds].sort((a, b) => a - b) };
}

/**
 * Writes the properties of described groups, in the entries' order and in one statement, and
 * returns `$group_<index>` for each entry, null where it belongs to no group. Needs `lockPersons`
 * and the types that `assignGroupTypes` returned for these entries.
 */
export async function applyGroupChanges(
  tx: Statements,
  entries: readonly GroupEntry[],
  { indexes }: GroupTypeIndexes,
): Promise<(JsonObject | null)[]> {
  await upsertGroups(tx, collectUpdates(entries, indexes));
  return entries.map((entry) => toEventProperties(entry, indexes));
}

/** The group types of each project in the order in which its events name them first. */
function collectTypes(entries: readonly GroupEntry[]): Map<number, Set<string>> {
  const wanted = new Map<number, Set<string>>();
  for (const { projectId, change } of entries) {
    if (change === null) continue;
    const types = wanted.get(projectId) ?? new Set<string>();
    wanted.set(projectId, types);
    for (const { groupType } of change.memberships) types.add(groupType);
    if (change.update !== null) types.add(change.update.groupType);
  }
  return wanted;
}

interface GroupTypeRow {
  readonly project_id: number;
  readonly group_type: string;
  readonly group_type_index: number;
}

function findFreeIndex(known: ReadonlyMap<string, number>): number | null {
  const taken = new Set(known.values());
  for (let index = 0; index < MAX_GROUP_TYPES; index += 1) {
    if (!taken.has(index)) return index;
  }
  return null;
}

/** One update per group, in a fixed order: two statements then never wait for each other. */
function collectUpdates(entries: readonly GroupEntry[], indexes: KnownGroupTypes): GroupUpdate[] {
  const updates = new Map<string, GroupUpdate>();
  for (const { projectId, timestamp, change } of entries) {
    const update = change?.update ?? null;
    if (update === null) continue;
    const groupTypeIndex = findIndex(indexes, projectId, update);
    if (groupTypeIndex === undefined) continue;
    const { groupKey } = update;
    const id = `${projectId}:${groupTypeIndex}:${groupKey}`;
    const earlier = updates.get(id);
    const properties = new Map(earlier?.properties);
    for (const [key, value] of Object.entries(update.properties)) properties.set(key, value);
    const createdAt =
      earlier !== undefined && earlier.createdAt < timestamp ? earlier.createdAt : timestamp;
    updates.set(id, { projectId, groupTypeIndex, groupKey, properties, createdAt });
  }
  return [...updates.values()];
}

async function upsertGroups(tx: Statements, updates: readonly GroupUpdate[]): Promise<void> {
  if (updates.length === 0) return;
  await tx.raw(
    `INSERT INTO groups (project_id, group_type_index, group_key, properties, created_at)
     SELECT * FROM unnest(?::int[], ?::smallint[], ?::text[], ?::jsonb[], ?::timestamptz[])
     ON CONFLICT (project_id, group_type_index, group_key) DO UPDATE
     SET properties = groups.properties || excluded.properties,
         created_at = least(groups.created_at, excluded.created_at)`,
    [
      updates.map((update) => update.projectId),
      updates.map((update) => update.groupTypeIndex),
      updates.map((update) => update.groupKey),
      updates.map((update) => JSON.stringify(Object.fromEntries<JsonValue>(update.properties))),
      updates.map((update) => update.createdAt),
    ],
  );
}

function toEventProperties(
  { projectId, change }: GroupEntry,
  indexes: KnownGroupTypes,
): JsonObject | null {
  if (change === null || change.memberships.length === 0) return null;
  const properties: Record<string, string> = {};
  for (const group of change.memberships) {
    const index = findIndex(indexes, projectId, group);
    if (index !== undefined) properties[`$group_${index}`] = group.groupKey;
  }
  return properties;
}

function findIndex(
  indexes: KnownGroupTypes,
  projectId: number,
  { groupType }: NamedGroup,
): number | undefined {
  return indexes.get(projectId)?.get(groupType);
}
