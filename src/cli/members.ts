import { isId } from '../domain/common/ids.ts';
import { invalidField, Refusal } from '../domain/common/refusal.ts';
import type { Db } from '../domain/database/db.ts';
import type { Project, User } from '../domain/projects/project.ts';
import {
  getProject,
  getUserByEmail,
  listProjects,
  listUsers,
} from '../domain/projects/projects-queries.ts';

const DIGITS = /^\d+$/;

/** The project with this id. Throws when it does not exist. */
export async function findProject(db: Db, id: string): Promise<Project> {
  const isKnowable = DIGITS.test(id) && isId(Number(id));
  const project = isKnowable ? await getProject(db, Number(id)) : undefined;
  if (project === undefined) throw new Refusal('not_found', `There is no project ${id}.`);
  return project;
}

/** The projects with these ids. Throws when one does not exist. */
export async function findProjects(db: Db, ids: readonly string[]): Promise<Project[]> {
  const found: Project[] = [];
  for (const id of ids) found.push(await findProject(db, id));
  return found;
}

/** The user with this e-mail address. Throws when it does not exist. */
export async function findUser(db: Db, email: string): Promise<User> {
  const user = await getUserByEmail(db, email);
  if (user === undefined) {
    throw new Refusal('not_found', `There is no user with the address ${email}.`);
  }
  return user;
}

/** The only project, for commands that need not name it. Throws when a choice is needed. */
export async function onlyProject(db: Db): Promise<Project> {
  const [project, ...others] = await listProjects(db);
  if (project === undefined) throw nothingYet('project');
  if (others.length === 0) return project;
  throw invalidField('--projects', 'More than one project exists; pass --projects.', 'required');
}

/** The only user, for commands that need not name them. Throws when a choice by `option` is needed. */
export async function onlyUser(db: Db, option: '--user' | '--members'): Promise<User> {
  const [user, ...others] = await listUsers(db);
  if (user === undefined) throw nothingYet('user');
  if (others.length === 0) return user;
  throw invalidField(option, `More than one user exists; pass ${option}.`, 'required');
}

function nothingYet(noun: string): Refusal {
  return new Refusal(
    'not_found',
    `There is no ${noun} yet. Burgee creates one when it starts for the first time.`,
  );
}
