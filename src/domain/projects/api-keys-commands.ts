import { hasScope, isScope, reachableProjectIds, type UserCaller } from '../common/access.ts';
import { invalidField, notFound, Refusal } from '../common/refusal.ts';
import type { Db, Tx } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import type { PersonalApiKey } from './api-keys-queries.ts';
import { getPersonalApiKey } from './api-keys-queries.ts';
import { changeIdentities, type IdentityChanges } from './change-identities.ts';
import { generateKey, hashKey, hintOfKey } from './keys.ts';
import { raiseIdentityRevision } from './projects-writes.ts';

/** A user has at most so many active keys. */
const KEYS_PER_USER_MAX = 100;

export interface NewPersonalApiKey {
  readonly userId: number;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly projectIds: readonly number[] | null;
  readonly key?: string | undefined;
}

/** Creates a personal API key and returns it with its secret, which is not stored. */
export async function createPersonalApiKey(
  tx: Tx,
  input: NewPersonalApiKey,
): Promise<{ id: string; key: string }> {
  const label = checkLabel(input.label);
  if (input.scopes.length === 0)
    throw invalidField('scopes', 'Name at least one scope.', 'required');
  for (const scope of input.scopes) {
    if (!isScope(scope)) throw invalidField('scopes', `Invalid scope: ${scope}`);
  }
  // First of all, so that two who create a key at once are counted one after the other.
  await raiseIdentityRevision(tx);
  await refuseTooMany(tx, input.userId);
  const key = input.key ?? generateKey('phx_');
  const [row] = await tx('personal_api_keys')
    .insert({
      user_id: input.userId,
      label,
      key_hash: hashKey(key),
      key_hint: hintOfKey(key),
      scopes: [...new Set(input.scopes)],
      project_ids: input.projectIds === null ? null : [...new Set(input.projectIds)],
    })
    .returning('id');
  if (row === undefined) throw new Error('The database returned no row for a new key.');
  return { id: row.id, key };
}

export interface OwnPersonalApiKey {
  readonly label: string;
  readonly scopes: readonly string[];
  /** Null is no limit; undefined is the limit of the caller's key. */
  readonly projectIds: readonly number[] | null | undefined;
}

/** Creates a key of the caller's that may do no more than the key that they call with. */
export async function createOwnPersonalApiKey(
  changes: IdentityChanges,
  caller: UserCaller,
  input: OwnPersonalApiKey,
): Promise<{ apiKey: PersonalApiKey; key: string }> {
  refuseForeignScopes(caller, input.scopes);
  const projectIds = input.projectIds === undefined ? caller.keyProjectIds : input.projectIds;
  refuseForeignProjects(caller, projectIds);
  return changeIdentities(changes, async (tx) => {
    const userId = caller.user.id;
    const { id, key } = await createPersonalApiKey(tx, { ...input, userId, projectIds });
    return { apiKey: await requireApiKey(tx, userId, id), key };
  });
}

/** Changes the label of an active key of the caller. */
export async function relabelPersonalApiKey(
  changes: IdentityChanges,
  userId: number,
  id: string,
  label: string,
): Promise<PersonalApiKey> {
  const checked = checkLabel(label);
  return changeIdentities(changes, async (tx) => {
    await tx('personal_api_keys')
      .where({ id, user_id: userId, revoked_at: null })
      .update({ label: checked });
    return requireApiKey(tx, userId, id);
  });
}

/** Revokes an active key of the caller's; this instance stops accepting it before the reply. */
export async function revokeOwnPersonalApiKey(
  changes: IdentityChanges,
  userId: number,
  id: string,
): Promise<void> {
  await changeIdentities(changes, async (tx) => {
    await requireApiKey(tx, userId, id);
    await tx('personal_api_keys').where({ id }).update({ revoked_at: tx.fn.now() });
  });
}

/** Revokes a personal API key by its id; every instance stops accepting it. */
export async function revokePersonalApiKey(db: Db, id: string): Promise<void> {
  await transaction(db, LIMITS.configuration, async (tx) => {
    const revoked = await tx('personal_api_keys')
      .whereRaw('id::text = ?', [id])
      .whereNull('revoked_at')
      .update({ revoked_at: tx.fn.now() })
      .returning('id');
    if (revoked.length === 0)
      throw notFound(`There is no active personal API key with the id ${id}.`);
    await raiseIdentityRevision(tx);
  });
}

function checkLabel(label: string): string {
  const trimmed = label.trim();
  if (trimmed === '') throw invalidField('label', 'This field may not be blank.', 'blank');
  return trimmed;
}

function refuseForeignScopes(caller: UserCaller, scopes: readonly string[]): void {
  const foreign = scopes.find((scope) => isScope(scope) && !hasScope(caller, scope));
  if (foreign === undefined) return;
  throw new Refusal(
    'permission_denied',
    `An API key can only create keys with scopes that it holds itself, which '${foreign}' is not.`,
    { attr: 'scopes' },
  );
}

function refuseForeignProjects(caller: UserCaller, projectIds: readonly number[] | null): void {
  if (projectIds === null) {
    if (caller.keyProjectIds === null) return;
    throw new Refusal(
      'permission_denied',
      'An API key that is limited to projects can only create keys that are limited to them.',
      { attr: 'scoped_teams' },
    );
  }
  const reachable = new Set([...(caller.keyProjectIds ?? []), ...reachableProjectIds(caller)]);
  const foreign = projectIds.find((id) => !reachable.has(id));
  if (foreign === undefined) return;
  throw new Refusal(
    'permission_denied',
    `API key does not have access to the requested project: ID ${foreign}.`,
    { attr: 'scoped_teams' },
  );
}

async function refuseTooMany(tx: Tx, userId: number): Promise<void> {
  const [counted] = await tx('personal_api_keys')
    .where({ user_id: userId, revoked_at: null })
    .count({ count: '*' });
  if (Number(counted?.count ?? 0) < KEYS_PER_USER_MAX) return;
  throw invalidField(
    null,
    `You can only have ${KEYS_PER_USER_MAX} personal API keys. Remove an existing key before creating a new one.`,
  );
}

async function requireApiKey(tx: Tx, userId: number, id: string): Promise<PersonalApiKey> {
  const found = await getPersonalApiKey(tx, userId, id);
  if (found === undefined) throw notFound();
  return found;
}
