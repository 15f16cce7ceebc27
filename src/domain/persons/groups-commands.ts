import { invalidField, notFound } from '../common/refusal.ts';
import { toStoredGroupName } from '../common/stored-text.ts';
import { toRefusal } from '../database/database-error.ts';
import type { Db } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import { listNamedGroupTypes, type NamedGroupType } from './groups-queries.ts';
import { lockPersons } from './write/persons-writes.ts';

/** Names to set; one that is absent stays, null takes it away. */
export interface GroupTypeNaming {
  readonly index: number;
  readonly nameSingular?: string | null | undefined;
  readonly namePlural?: string | null | undefined;
}

/**
 * Names group types for people, all of them or none, and returns the project's group types. Names
 * are not evaluated, so the revision stays.
 */
export async function nameGroupTypes(
  db: Db,
  projectId: number,
  namings: readonly GroupTypeNaming[],
): Promise<NamedGroupType[]> {
  return transaction(db, LIMITS.persons, async (tx) => {
    await lockPersons(tx, [projectId]);
    const known = await listNamedGroupTypes(tx, projectId);
    const named = new Map(known.map((groupType) => [groupType.index, groupType]));
    for (const [position, { index, nameSingular, namePlural }] of namings.entries()) {
      const before = named.get(index);
      if (before === undefined) throw unknownIndex(position);
      named.set(index, {
        ...before,
        nameSingular: nameSingular === undefined ? before.nameSingular : nameSingular,
        namePlural: namePlural === undefined ? before.namePlural : namePlural,
      });
    }
    const types = [...named.values()];
    await tx.raw(
      `UPDATE group_types AS g SET name_singular = n."nameSingular", name_plural = n."namePlural"
         FROM jsonb_to_recordset(?::jsonb)
           AS n (index smallint, "nameSingular" text, "namePlural" text)
         WHERE g.project_id = ? AND g.group_type_index = n.index`,
      [JSON.stringify(types), projectId],
    );
    return types;
  }).catch((error: unknown) => {
    throw toRefusal(error);
  });
}

/** Deletes a group for good. Throws `not_found` for one that is not stored. */
export async function deleteGroup(
  db: Db,
  projectId: number,
  { index, key }: { readonly index: number; readonly key: string },
): Promise<void> {
  await transaction(db, LIMITS.persons, async (tx) => {
    await lockPersons(tx, [projectId]);
    const deleted = await tx('groups')
      .where({
        project_id: projectId,
        group_type_index: index,
        group_key: toStoredGroupName(key),
      })
      .delete();
    if (deleted === 0) throw notFound();
  }).catch((error: unknown) => {
    throw toRefusal(error);
  });
}

function unknownIndex(position: number) {
  return invalidField(
    `${position}__group_type_index`,
    'There is no group type with this index.',
    'does_not_exist',
  );
}
