import type { Command } from 'commander';
import { LIMITS } from '../domain/database/deadlines.ts';
import { transaction } from '../domain/database/transaction.ts';
import { addMember, createUser } from '../domain/projects/projects-commands.ts';
import { listMemberships, listUsers } from '../domain/projects/projects-queries.ts';
import {
  type CliContext,
  type CommonOptions,
  formatTable,
  parseList,
  printResult,
  withDatabase,
} from './context.ts';
import { findProjects, onlyProject } from './members.ts';

interface CreateOptions extends CommonOptions {
  readonly email: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly projects?: string[];
}

/** Adds `burgee users create|list`. */
export function addUserCommands(program: Command, context: CliContext): void {
  const users = program.command('users').description('create and list users');

  users
    .command('create')
    .description('create a user; give them a key with "keys create"')
    .requiredOption('--email <email>', 'the e-mail address of the user')
    .option('--first-name <name>', 'the first name')
    .option('--last-name <name>', 'the last name')
    .option(
      '--projects <ids>',
      'projects to work on, separated by commas (the only project when there is one)',
      parseList,
    )
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      const created = await withDatabase(context, (db) =>
        transaction(db, LIMITS.configuration, async (tx) => {
          const projects =
            options.projects === undefined
              ? [await onlyProject(tx)]
              : await findProjects(tx, options.projects);
          const user = await createUser(tx, {
            email: options.email,
            ...(options.firstName === undefined ? {} : { firstName: options.firstName }),
            ...(options.lastName === undefined ? {} : { lastName: options.lastName }),
          });
          for (const project of projects) await addMember(tx, user.id, project.id);
          return { id: user.id, email: user.email, projects: projects.map(({ id }) => id) };
        }),
      );
      printResult(context, options, created, [
        `Created user ${created.id} ${created.email} in project ${created.projects.join(', ')}.`,
      ]);
    });

  users
    .command('list')
    .description('list the users')
    .option('--json', 'print JSON')
    .action(async (options: CommonOptions) => {
      const found = await withDatabase(context, async (db) => {
        const projectIds = await listMemberships(db);
        return (await listUsers(db)).map((user) => ({
          ...user,
          projectIds: projectIds.get(user.id) ?? [],
        }));
      });
      printResult(
        context,
        options,
        found.map((user) => ({
          id: user.id,
          email: user.email,
          first_name: user.firstName,
          last_name: user.lastName,
          projects: user.projectIds,
          created_at: user.createdAt,
        })),
        formatTable(
          ['ID', 'EMAIL', 'NAME', 'PROJECTS'],
          found.map((user) => [
            String(user.id),
            user.email,
            `${user.firstName} ${user.lastName}`.trim(),
            user.projectIds.join(',') || 'none',
          ]),
        ),
      );
    });
}
