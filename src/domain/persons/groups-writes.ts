import type { Tx } from '../database/db.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { GroupChange, NamedGroup } from './group-changes.ts';

export { type GroupChange, readGroupChange } from './group-changes.ts';

/** A project knows at most this many group types; later ones are ignored. */
const MAX_GROUP_TYPES = 5;

/** One event's change of a project's groups. */
export interface GroupEntry {
  readonly projectId: number;
  readonly timestamp: Date;
  readonly change: GroupChange | null;
}

export interface AppliedGroupChanges {
  /** `$group_<index>` for each entry, null where it belongs to no group. */
  readonly eventProperties: readonly (JsonObject | null)[];
  /** The projects that got a group type, which changes their configuration. */
  readonly projectIdsWithNewTypes: readonly number[];
}

interface GroupTypeIndexes {
  /** Project id, then group type, to its index. */
  readonly indexes: Map<number, Map<string, number>>;
  readonly projectIdsWithNewTypes: readonly number[];
}

interface GroupUpdate {
  readonly projectId: number;
  readonly groupTypeIndex: number;
  readonly groupKey: string;
  properties: Map<string, JsonValue>;
  createdAt: Date;
}

/**
 * Applies the entries' group changes in their order: assigns indexes to new group types and writes
 * the properties of described groups. Needs `lockPersons`. At most four statements.
 */
export async function applyGroupChanges(
  tx: Tx,
  entries: readonly GroupEntry[],
): Promise<AppliedGroupChanges> {
  if (entries.every(({ change }) => change === null)) {
    return { eventProperties: entries.map(() => null), projectIdsWithNewTypes: [] };
  }
  const { indexes, projectIdsWithNewTypes } = await assignGroupTypes(tx, entries);
  await upsertGroups(tx, collectUpdates(entries, indexes));
  return {
    eventProperties: entries.map((entry) => toEventProperties(entry, indexes)),
    projectIdsWithNewTypes,
  };
}

async function assignGroupTypes(tx: Tx, entries: readonly GroupEntry[]): Promise<GroupTypeIndexes> {
  const wanted = collectTypes(entries);
  const indexes = await loadGroupTypes(tx, [...wanted.keys()]);
  const added: { projectId: number; index: number; type: string }[] = [];
  for (const [projectId, types] of wanted) {
    const known = indexes.get(projectId) ?? new Map<string, number>();
    indexes.set(projectId, known);
    for (const type of types) {
      const index = findFreeIndex(known);
      if (known.has(type) || index === null) continue;
      known.set(type, index);
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
  return {
    indexes,
    projectIdsWithNewTypes: [...new Set(added.map(({ projectId }) => projectId))],
  };
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

async function loadGroupTypes(
  tx: Tx,
  projectIds: readonly number[],
): Promise<Map<number, Map<string, number>>> {
  const rows = await tx('group_types')
    .select('project_id', 'group_type', 'group_type_index')
    .whereIn('project_id', projectIds);
  const indexes = new Map<number, Map<string, number>>();
  for (const row of rows) {
    const types = indexes.get(row.project_id) ?? new Map<string, number>();
    indexes.set(row.project_id, types.set(row.group_type, row.group_type_index));
  }
  return indexes;
}

function findFreeIndex(known: ReadonlyMap<string, number>): number | null {
  const taken = new Set(known.values());
  for (let index = 0; index < MAX_GROUP_TYPES; index += 1) {
    if (!taken.has(index)) return index;
  }
  return null;
}

/** One update per group, in a fixed order: two statements then never wait for each other. */
function collectUpdates(
  entries: readonly GroupEntry[],
  indexes: GroupTypeIndexes['indexes'],
): GroupUpdate[] {
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

async function upsertGroups(tx: Tx, updates: readonly GroupUpdate[]): Promise<void> {
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
  indexes: GroupTypeIndexes['indexes'],
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
  indexes: GroupTypeIndexes['indexes'],
  projectId: number,
  { groupType }: NamedGroup,
): number | undefined {
  return indexes.get(projectId)?.get(groupType);
}
