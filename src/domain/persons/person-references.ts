import { toStoredDistinctId } from '../common/stored-text.ts';
import type { Tx } from '../database/db.ts';

/** Persons as a client names them: by uuid, or by any of their distinct ids. */
export interface PersonReferences {
  readonly uuids: readonly string[];
  readonly distinctIds: readonly string[];
}

export interface ReferencedPersons {
  /** Each person once. */
  readonly personIds: readonly number[];
  /** What names nobody, as it was sent, each once. */
  readonly unknownIds: readonly string[];
}

/** Finds the persons of the project whom the references name, with one statement for each kind. */
export async function findPersonIds(
  tx: Tx,
  projectId: number,
  references: PersonReferences,
): Promise<ReferencedPersons> {
  const sentUuids = new Map(references.uuids.map((uuid) => [uuid.toLowerCase(), uuid]));
  const sentIds = new Map(references.distinctIds.map((id) => [toStoredDistinctId(id), id]));
  const personIds = new Set<number>();
  if (sentUuids.size > 0) {
    const { rows } = await tx.raw<{ rows: { id: number; uuid: string }[] }>(
      'SELECT id, uuid FROM persons WHERE project_id = ? AND uuid = ANY (?::uuid[])',
      [projectId, [...sentUuids.keys()]],
    );
    for (const { id, uuid } of rows) {
      personIds.add(id);
      sentUuids.delete(uuid);
    }
  }
  if (sentIds.size > 0) {
    const { rows } = await tx.raw<{ rows: { person_id: number; distinct_id: string }[] }>(
      `SELECT person_id, distinct_id FROM person_distinct_ids
       WHERE project_id = ? AND distinct_id = ANY (?::text[])`,
      [projectId, [...sentIds.keys()]],
    );
    for (const { person_id: id, distinct_id: distinctId } of rows) {
      personIds.add(id);
      sentIds.delete(distinctId);
    }
  }
  return { personIds: [...personIds], unknownIds: [...sentUuids.values(), ...sentIds.values()] };
}
