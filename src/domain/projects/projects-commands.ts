import type { UserCaller } from '../common/access.ts';
import { invalidField, notFound, Refusal } from '../common/refusal.ts';
import { isUniqueViolation } from '../database/database-error.ts';
import type { Tx } from '../database/db.ts';
import type { ProjectRow } from '../database/tables.ts';
import { changeIdentities, type IdentityChanges } from './change-identities.ts';
import { changeProject, type ProjectChanges } from './change-project.ts';
import { generateKey, hashKey } from './keys.ts';
import { type Project, toProject, toUser, type User } from './project.ts';
import { type ProjectSettings, toSettingsColumns } from './project-settings.ts';
import { raiseIdentityRevision } from './projects-writes.ts';

/** A project and its new secret key, which is not stored and cannot be shown again. */
export interface CreatedProject {
  readonly project: Project;
  readonly secretKey: string;
}

export interface NewProject extends ProjectSettings {
  readonly name: string;
  /** A given id is used by the first start only. */
  readonly id?: number;
  readonly apiToken?: string | undefined;
  readonly secretKey?: string | undefined;
}

/** Creates a project without members. Both of its keys are drawn unless they are given. */
export async function createProject(tx: Tx, input: NewProject): Promise<CreatedProject> {
  const settings = toSettingsColumns(input);
  const secretKey = input.secretKey ?? generateKey('phs_');
  const [row] = await tx('projects')
    .insert({
      ...(input.id === undefined ? {} : { id: input.id }),
      ...settings,
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

/** Makes the user a member of the project. Returns false for one who is a member already. */
export async function addMember(tx: Tx, userId: number, projectId: number): Promise<boolean> {
  const added = await tx('project_memberships')
    .insert({ user_id: userId, project_id: projectId })
    .onConflict(['user_id', 'project_id'])
    .ignore()
    .returning('user_id');
  await raiseIdentityRevision(tx);
  return added.length > 0;
}

/**
 * Ends a membership: none of the user's keys reaches the project any more. Throws 404 when there is
 * no such membership, and 400 for the only member, without whom nobody would reach the project.
 */
export async function removeMember(tx: Tx, user: User, projectId: number): Promise<void> {
  // The row lock puts removals in line, so that two members cannot remove each other.
  await raiseIdentityRevision(tx);
  const rows = await tx('project_memberships').where({ project_id: projectId });
  if (!rows.some((row) => row.user_id === user.id)) {
    throw notFound(`${user.email} is not a member of project ${projectId}.`);
  }
  if (rows.length === 1) {
    throw invalidField(
      null,
      `${user.email} is the only member of project ${projectId}. Add another one first.`,
    );
  }
  await tx('project_memberships').where({ user_id: user.id, project_id: projectId }).delete();
}

/**
 * Changes the settings of a project. Every instance evaluates with them from the next revision on,
 * and this one when it returns.
 */
export async function updateProject(
  changes: ProjectChanges,
  projectId: number,
  settings: ProjectSettings,
): Promise<Project> {
  const columns = toSettingsColumns(settings);
  return changeProject(changes, projectId, async (tx) => {
    const project = () => tx('projects').where({ id: projectId });
    if (Object.keys(columns).length > 0) await project().update(columns);
    return requireProject(await project().first());
  });
}

/**
 * Creates a project whose only member is the caller. A key that is limited to projects cannot make
 * one, because it could not reach it.
 */
export async function createOwnProject(
  changes: IdentityChanges,
  caller: UserCaller,
  input: NewProject,
): Promise<CreatedProject> {
  if (caller.keyProjectIds !== null) {
    throw new Refusal(
      'permission_denied',
      'An API key that is limited to projects cannot create a project.',
    );
  }
  return changeIdentities(changes, async (tx) => {
    const created = await createProject(tx, input);
    await addMember(tx, caller.user.id, created.project.id);
    return created;
  });
}

/**
 * Draws a new secret key for the project. The one that it replaces works until it is deleted or the
 * next rotation, so that no server has to stop for it.
 */
export async function rotateSecretKey(
  changes: IdentityChanges,
  projectId: number,
): Promise<CreatedProject> {
  const secretKey = generateKey('phs_');
  const project = await changeIdentities(changes, async (tx) => {
    const [row] = await tx('projects')
      .where({ id: projectId })
      .update({
        secret_key_hash: hashKey(secretKey),
        secret_key_backup_hash: tx.ref('secret_key_hash'),
      })
      .returning('*');
    return requireProject(row);
  });
  return { project, secretKey };
}

/** Ends the secret key that the last rotation replaced; without one nothing changes. */
export async function deleteSecretKeyBackup(
  changes: IdentityChanges,
  projectId: number,
): Promise<Project> {
  return changeIdentities(changes, async (tx) => {
    const [row] = await tx('projects')
      .where({ id: projectId })
      .update({ secret_key_backup_hash: null })
      .returning('*');
    return requireProject(row);
  });
}

/** Projects are never removed, so one that a caller was let into exists. */
function requireProject(row: ProjectRow | undefined): Project {
  if (row === undefined) throw notFound('Project not found.');
  return toProject(row);
}
