import type { UserCaller } from '../common/access.ts';
import type { Db } from '../database/db.ts';
import type { PersonalApiKeyRow } from '../database/tables.ts';

/** A personal API key without its secret, which is shown once and then forgotten. */
export interface PersonalApiKey {
  readonly id: string;
  readonly userId: number;
  readonly userEmail: string;
  readonly label: string;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly projectIds: readonly number[] | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** Every personal API key, oldest first, revoked ones included. */
export async function listPersonalApiKeys(db: Db): Promise<PersonalApiKey[]> {
  return selectKeys(db, {});
}

/** The active keys of a user, oldest first. */
export async function listOwnPersonalApiKeys(db: Db, userId: number): Promise<PersonalApiKey[]> {
  return selectKeys(db, { user_id: userId, revoked_at: null });
}

/** An active key of a user, or undefined. */
export async function getPersonalApiKey(
  db: Db,
  userId: number,
  id: string,
): Promise<PersonalApiKey | undefined> {
  const [found] = await selectKeys(db, {
    'personal_api_keys.id': id,
    user_id: userId,
    revoked_at: null,
  });
  return found;
}

type KeyFilter = Readonly<Record<string, string | number | null>>;

async function selectKeys(db: Db, filter: KeyFilter): Promise<PersonalApiKey[]> {
  const rows: KeyWithEmail[] = await db('personal_api_keys')
    .join('users', 'users.id', 'personal_api_keys.user_id')
    .where(filter)
    .select('personal_api_keys.*', 'users.email')
    .orderBy(['personal_api_keys.created_at', 'personal_api_keys.id']);
  return rows.map(toPersonalApiKey);
}

type KeyWithEmail = PersonalApiKeyRow & { email: string };

function toPersonalApiKey(row: KeyWithEmail): PersonalApiKey {
  return {
    id: row.id,
    userId: row.user_id,
    userEmail: row.email,
    label: row.label,
    hint: row.key_hint,
    scopes: row.scopes,
    projectIds: row.project_ids,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}

interface CallerRow {
  key_hash: string;
  id: number;
  uuid: string;
  distinct_id: string;
  email: string;
  scopes: string[];
  project_ids: number[] | null;
  member_project_ids: number[];
}

/** The holders of the active keys with these hashes, by hash; nothing for one that nobody holds. */
export async function findCallersByKeyHash(
  db: Db,
  hashes: readonly string[],
): Promise<Map<string, UserCaller>> {
  const { rows } = await db.raw<{ rows: CallerRow[] }>(
    `SELECT k.key_hash, u.id, u.uuid, u.distinct_id, u.email, k.scopes, k.project_ids,
       ARRAY(SELECT m.project_id FROM project_memberships m
             WHERE m.user_id = u.id ORDER BY m.project_id) AS member_project_ids
     FROM personal_api_keys k JOIN users u ON u.id = k.user_id
     WHERE k.key_hash = ANY (?::text[]) AND k.revoked_at IS NULL`,
    [[...hashes]],
  );
  return new Map(rows.map((row) => [row.key_hash, toCaller(row)]));
}

function toCaller(row: CallerRow): UserCaller {
  return {
    kind: 'user',
    user: { id: row.id, uuid: row.uuid, distinctId: row.distinct_id, email: row.email },
    scopes: row.scopes,
    keyProjectIds: row.project_ids,
    memberProjectIds: row.member_project_ids,
  };
}
