import type { Db } from '../database/db.ts';
import type { Statements } from '../database/pipeline.ts';
import type { ProjectRow } from '../database/tables.ts';
import { type Project, toProject, toUser, type User } from './project.ts';

/** Every project, lowest id first. */
export async function listProjects(db: Db): Promise<Project[]> {
  const rows = await db('projects').orderBy('id');
  return rows.map(toProject);
}

/** The projects with these ids, lowest id first; those that do not exist are left out. */
export async function listProjectsById(db: Db, ids: readonly number[]): Promise<Project[]> {
  const rows = await db('projects')
    .whereIn('id', [...ids])
    .orderBy('id');
  return rows.map(toProject);
}

/** Whether any project exists; an empty database has none. */
export async function hasProjects(db: Db): Promise<boolean> {
  const row = await db('projects').select('id').first();
  return row !== undefined;
}

/** The project with this id, or undefined. */
export async function getProject(db: Statements, id: number): Promise<Project | undefined> {
  const found: { rows: ProjectRow[] } = await db.raw('SELECT * FROM projects WHERE id = ?', [id]);
  const [row] = found.rows;
  return row === undefined ? undefined : toProject(row);
}

/** The projects with these project API keys, by key. */
export async function findProjectsByToken(
  db: Db,
  tokens: readonly string[],
): Promise<Map<string, Project>> {
  const rows = await db('projects').whereRaw('api_token = ANY (?::text[])', [[...tokens]]);
  return new Map(rows.map((row) => [row.api_token, toProject(row)]));
}

/** The ids of the projects whose secret keys, or those before them, have these hashes, by hash. */
export async function findProjectIdsBySecretHash(
  db: Db,
  hashes: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.raw<{ rows: SecretHashes[] }>(
    `SELECT id, secret_key_hash AS current, secret_key_backup_hash AS previous FROM projects
     WHERE secret_key_hash = ANY (?::text[]) OR secret_key_backup_hash = ANY (?::text[])`,
    [[...hashes], [...hashes]],
  );
  return new Map(
    rows.flatMap(({ id, current, previous }) =>
      [current, previous].flatMap((hash) => (hash === null ? [] : [[hash, id] as const])),
    ),
  );
}

interface SecretHashes {
  readonly id: number;
  readonly current: string | null;
  readonly previous: string | null;
}

/** The revision of every project and of identities, as the backstop of propagation compares them. */
export async function readRevisions(
  db: Db,
): Promise<{ identity: number; projects: Map<number, number> }> {
  const { rows } = await db.raw<{ rows: { id: number; revision: number }[] }>(
    'SELECT id, revision FROM projects UNION ALL SELECT 0, revision FROM identity_revision',
  );
  const projects = new Map(rows.map((row) => [row.id, row.revision]));
  const identity = projects.get(0) ?? 0;
  projects.delete(0);
  return { identity, projects };
}

/** Every user, lowest id first. */
export async function listUsers(db: Db): Promise<User[]> {
  const rows = await db('users').orderBy('id');
  return rows.map(toUser);
}

/** The members of a project, lowest id first. */
export async function listMembers(db: Db, projectId: number): Promise<User[]> {
  const rows = await db('users')
    .whereIn('id', db('project_memberships').where({ project_id: projectId }).select('user_id'))
    .orderBy('id');
  return rows.map(toUser);
}

/** The ids of the projects that each user is a member of, lowest first, by the id of the user. */
export async function listMemberships(db: Db): Promise<Map<number, number[]>> {
  const rows = await db('project_memberships').orderBy('project_id');
  const projectIds = new Map<number, number[]>();
  for (const { user_id: userId, project_id: projectId } of rows) {
    projectIds.set(userId, [...(projectIds.get(userId) ?? []), projectId]);
  }
  return projectIds;
}

/** The users with these ids. */
export async function listUsersById(db: Db, ids: readonly number[]): Promise<Map<number, User>> {
  if (ids.length === 0) return new Map();
  const rows = await db('users').whereIn('id', [...new Set(ids)]);
  return new Map(rows.map((row) => [row.id, toUser(row)]));
}

/** The user with this id, or undefined. */
export async function getUser(db: Db, id: number): Promise<User | undefined> {
  const row = await db('users').where({ id }).first();
  return row === undefined ? undefined : toUser(row);
}

/** The user with this e-mail address, upper and lower case being the same, or undefined. */
export async function getUserByEmail(db: Db, email: string): Promise<User | undefined> {
  const row = await db('users').whereRaw('lower(email) = lower(?)', [email]).first();
  return row === undefined ? undefined : toUser(row);
}
