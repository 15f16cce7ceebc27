import { toRefusal } from '../../database/database-error.ts';
import type { Db, Tx } from '../../database/db.ts';
import { LIMITS } from '../../database/deadlines.ts';
import type { Statements } from '../../database/pipeline.ts';
import { transaction } from '../../database/transaction.ts';

/** A person's identifiers that experience continuity keeps, by flag key. */
export type HashKeyOverrides = ReadonlyMap<string, string>;

/**
 * Keeps an identifier for persons and flags that have none yet; the first one that was written
 * stays. Returns what each person has afterwards. Throws `unavailable` when the database is away.
 */
export async function writeHashKeyOverrides(
  db: Db,
  input: {
    readonly personIds: readonly number[];
    readonly flagKeys: readonly string[];
    readonly hashKey: string;
  },
): Promise<ReadonlyMap<number, HashKeyOverrides>> {
  const personIds = [...input.personIds].sort((left, right) => left - right);
  const flagKeys = [...input.flagKeys].sort();
  try {
    return await write(db, { ...input, personIds, flagKeys });
  } catch (error) {
    throw toRefusal(error);
  }
}

async function write(
  db: Db,
  input: {
    readonly personIds: readonly number[];
    readonly flagKeys: readonly string[];
    readonly hashKey: string;
  },
): Promise<ReadonlyMap<number, HashKeyOverrides>> {
  const personIds = [...input.personIds];
  return transaction(db, LIMITS.continuity, async (tx) => {
    // Persons that a merge deletes at this moment are left out instead of failing the request. All
    // persons are locked first and in the order in which merges lock them, see `writeMerges`.
    await tx.raw(
      `INSERT INTO hash_key_overrides (person_id, feature_flag_key, hash_key)
         SELECT p.id, k.key, ?
         FROM (SELECT id FROM persons WHERE id = ANY (?::bigint[]) ORDER BY id FOR KEY SHARE) AS p,
              unnest(?::text[]) AS k (key)
         ORDER BY p.id, k.key
         ON CONFLICT DO NOTHING`,
      [input.hashKey, personIds, [...input.flagKeys]],
    );
    return readOverrides(tx, personIds);
  });
}

async function readOverrides(
  tx: Tx,
  personIds: readonly number[],
): Promise<ReadonlyMap<number, HashKeyOverrides>> {
  const rows = await tx('hash_key_overrides')
    .whereIn('person_id', [...personIds])
    .select('person_id', 'feature_flag_key', 'hash_key');
  const overrides = new Map<number, Map<string, string>>();
  for (const row of rows) {
    const own = overrides.get(row.person_id) ?? new Map<string, string>();
    overrides.set(row.person_id, own.set(row.feature_flag_key, row.hash_key));
  }
  return overrides;
}

/** Moves the kept identifiers of an absorbed person; those of the absorbing one stay. */
export async function moveHashKeyOverrides(
  tx: Statements,
  _projectId: number,
  fromPersonId: number,
  toPersonId: number,
): Promise<void> {
  await tx.raw(
    `WITH removed AS (
       DELETE FROM hash_key_overrides WHERE person_id = ?
       RETURNING feature_flag_key, hash_key, created_at
     )
     INSERT INTO hash_key_overrides (person_id, feature_flag_key, hash_key, created_at)
     SELECT ?, feature_flag_key, hash_key, created_at FROM removed
     ON CONFLICT DO NOTHING`,
    [fromPersonId, toPersonId],
  );
}
