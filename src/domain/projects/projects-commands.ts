import { isScope } from '../access.ts';
import { isUniqueViolation } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
import { invalidField, notFound } from '../errors.ts';
import { generateKey, hashKey, hintOfKey } from './keys.ts';
import { type Project, toProject, toUser, type User } from './project.ts';
import { raiseIdentityRevision, raiseProjectRevision } from './projects-writes.ts';

/** A new project and its secret key, which is not stored and cannot be shown again. */
export interface CreatedProject {
  readonly project: Project;
  readonly secretKey: string;
}

export interface NewProject {
  readonly name: string;
  /** A given id is used by the first start only. */
  readonly id?: number;
  readonly apiToken?: string | undefined;
  readonly secretKey?: string | undefined;
}

/** Creates a project without members. Both of its keys are drawn unless they are given. */
export async function createProject(tx: Tx, input: NewProject): Promise<CreatedProject> {
  const name = input.name.trim();
  if (name === '') throw invalidField('name', 'This field may not be blank.', 'blank');
  const secretKey = input.secretKey ?? generateKey('phs_');
  const [row] = await tx('projects')
    .insert({
      ...(input.id === undefined ? {} : { id: input.id }),
      name,
      api_token: input.apiToken ?? generateKey('phc_'),
      secret_key_hash: hashKey(secretKey),
    })
    .returning('*');
  if (row === undefined) throw new Error('The database returned no row for a new project.');
  if (input.id !== undefined) {
    await tx.raw(`SELECT setval(pg_get_serial_sequence('projects', 'id'), ?)`, [input.id]);
  }
  await raiseIdentityRevision(tx);
  return { project: toProject(row), secretKey };
}

export interface NewUser {
  readonly email: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** Creates a user. Refuses an address that is not one, or that a user has already. */
export async function createUser(tx: Tx, input: NewUser): Promise<User> {
  const email = input.email.trim();
  if (!EMAIL.test(email)) throw invalidField('email', 'Enter a valid email address.');
  try {
    const [row] = await tx('users')
      .insert({ email, first_name: input.firstName ?? '', last_name: input.lastName ?? '' })
      .returning('*');
    if (row === undefined) throw new Error('The database returned no row for a new user.');
    await raiseIdentityRevision(tx);
    return toUser(row);
  } catch (error) {
    if (!isUniqueViolation(error, 'users_email_key')) throw error;
    throw invalidField('email', 'There is already a user with this email address.', 'unique');
  }
}

/** Makes the user a member of the project; a second time changes nothing. */
export async function addMember(tx: Tx, userId: number, projectId: number): Promise<void> {
  await tx('project_memberships')
    .insert({ user_id: userId, project_id: projectId })
    .onConflict(['user_id', 'project_id'])
    .ignore();
  await raiseIdentityRevision(tx);
}

/**
 * Limits the requests of a project to so many a month; null lifts the limit. Every instance holds
 * the project to it from the next revision on.
 */
export async function setFlagRequestQuota(
  db: Db,
  projectId: number,
  perMonth: number | null,
): Promise<void> {
  if (perMonth !== null && !(Number.isSafeInteger(perMonth) && perMonth >= 0)) {
    throw invalidField('flag_requests_per_month', 'A whole number from 0 on is required.');
  }
  await db.transaction(async (tx) => {
    const changed = await tx('projects')
      .where({ id: projectId })
      .update({ flag_requests_per_month: perMonth })
      .returning('id');
    if (changed.length === 0) throw notFound(`There is no project ${projectId}.`);
    await raiseProjectRevision(tx, projectId);
  });
}

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
  if (input.label.trim() === '')
    throw invalidField('label', 'This field may not be blank.', 'blank');
  if (input.scopes.length === 0)
    throw invalidField('scopes', 'Name at least one scope.', 'required');
  for (const scope of input.scopes) {
    if (!isScope(scope)) throw invalidField('scopes', `Invalid scope: ${scope}`);
  }
  const key = input.key ?? generateKey('phx_');
  const [row] = await tx('personal_api_keys')
    .insert({
      user_id: input.userId,
      label: input.label.trim(),
      key_hash: hashKey(key),
      key_hint: hintOfKey(key),
      scopes: [...input.scopes],
      project_ids: input.projectIds === null ? null : [...input.projectIds],
    })
    .returning('id');
  if (row === undefined) throw new Error('The database returned no row for a new key.');
  await raiseIdentityRevision(tx);
  return { id: row.id, key };
}

/** Revokes a personal API key by its id; every instance stops accepting it. */
export async function revokePersonalApiKey(db: Db, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const revoked = await tx('personal_api_keys')
      .whereRaw('id::text = ?', [id])
      .whereNull('revoked_at')
      .update({ revoked_at: tx.fn.now() })
      .returning('id');
    if (revoked.length === 0)
      throw notFound(`There is no living personal API key with the id ${id}.`);
    await raiseIdentityRevision(tx);
  });
}
