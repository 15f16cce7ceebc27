import { isJsonObject, type JsonObject } from '../../common/json.ts';
import { toIdentifier, toStoredGroupName } from '../../common/stored-text.ts';
import { isPersonless, type PersonEvent } from './person-changes.ts';

/** A group that an event names, by its type's name. */
export interface NamedGroup {
  readonly groupType: string;
  readonly groupKey: string;
}

/** What one event does to groups. */
export interface GroupChange {
  /** The groups that the event belongs to; they give it `$group_<index>` and create no group. */
  readonly memberships: readonly NamedGroup[];
  /** The group that `$groupidentify` describes. */
  readonly update: (NamedGroup & { readonly properties: JsonObject }) | null;
}

/**
 * What the event does to groups, or null for nothing: `$groups` names memberships, and
 * `$groupidentify` with a type and a key sets properties of that group.
 */
export function readGroupChange(event: PersonEvent): GroupChange | null {
  const { properties } = event;
  const isUpdate = event.event === '$groupidentify';
  if ((!isUpdate && properties.$groups === undefined) || isPersonless(properties)) return null;
  const memberships = readMemberships(properties);
  const update = isUpdate ? readUpdate(properties) : null;
  return memberships.length === 0 && update === null ? null : { memberships, update };
}

function readMemberships({ $groups }: JsonObject): NamedGroup[] {
  if (!isJsonObject($groups)) return [];
  const memberships: NamedGroup[] = [];
  for (const [type, key] of Object.entries($groups)) {
    const groupKey = toIdentifier(key);
    if (groupKey === null || type.trim() === '') continue;
    memberships.push({
      groupType: toStoredGroupName(type),
      groupKey: toStoredGroupName(groupKey),
    });
  }
  return memberships;
}

function readUpdate(properties: JsonObject): GroupChange['update'] {
  const groupType = toIdentifier(properties.$group_type);
  const groupKey = toIdentifier(properties.$group_key);
  if (groupType === null || groupKey === null) return null;
  return {
    groupType: toStoredGroupName(groupType),
    groupKey: toStoredGroupName(groupKey),
    properties: isJsonObject(properties.$group_set) ? properties.$group_set : {},
  };
}
