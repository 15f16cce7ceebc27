import type { Command } from 'commander';
import { LIMITS } from '../domain/database/deadlines.ts';
import { transaction } from '../domain/database/transaction.ts';
import { addMember, removeMember } from '../domain/projects/projects-commands.ts';
import { listMembers } from '../domain/projects/projects-queries.ts';
import {
  type CliContext,
  type CommonOptions,
  formatTable,
  printResult,
  withDatabase,
} from './context.ts';
import { findProject, findUser } from './members.ts';

interface MemberOptions extends CommonOptions {
  readonly user: string;
}

/** Adds `burgee projects members|add-member|remove-member`. */
export function addProjectMemberCommands(projects: Command, context: CliContext): void {
  addMembers(projects, context);
  addAddMember(projects, context);
  addRemoveMember(projects, context);
}

function addMembers(projects: Command, context: CliContext): void {
  projects
    .command('members')
    .description('list the users who may work on a project')
    .argument('<id>', 'the id of the project')
    .option('--json', 'print JSON')
    .action(async (id: string, options: CommonOptions) => {
      const members = await withDatabase(context, async (db) => {
        const project = await findProject(db, id);
        return listMembers(db, project.id);
      });
      printResult(
        context,
        options,
        members.map(({ id: userId, email }) => ({ id: userId, email })),
        formatTable(
          ['ID', 'EMAIL', 'NAME'],
          members.map((user) => [
            String(user.id),
            user.email,
            `${user.firstName} ${user.lastName}`.trim(),
          ]),
        ),
      );
    });
}

function addAddMember(projects: Command, context: CliContext): void {
  projects
    .command('add-member')
    .description('let a user work on a project; a running Burgee lets them in at once')
    .argument('<id>', 'the id of the project')
    .requiredOption('--user <email>', 'the e-mail address of the user')
    .option('--json', 'print JSON')
    .action(async (id: string, options: MemberOptions) => {
      const result = await withDatabase(context, (db) =>
        transaction(db, LIMITS.configuration, async (tx) => {
          const project = await findProject(tx, id);
          const user = await findUser(tx, options.user);
          const added = await addMember(tx, user.id, project.id);
          return { project: project.id, user: user.email, added };
        }),
      );
      printResult(context, options, result, [
        result.added
          ? `${result.user} is now a member of project ${result.project}.`
          : `${result.user} is already a member of project ${result.project}.`,
      ]);
    });
}

function addRemoveMember(projects: Command, context: CliContext): void {
  projects
    .command('remove-member')
    .description('remove a user from a project; their keys lose access to it at once')
    .argument('<id>', 'the id of the project')
    .requiredOption('--user <email>', 'the e-mail address of the user')
    .option('--json', 'print JSON')
    .action(async (id: string, options: MemberOptions) => {
      const result = await withDatabase(context, (db) =>
        transaction(db, LIMITS.configuration, async (tx) => {
          const project = await findProject(tx, id);
          const user = await findUser(tx, options.user);
          await removeMember(tx, user, project.id);
          return { project: project.id, user: user.email, removed: true };
        }),
      );
      printResult(context, options, result, [
        `${result.user} is no longer a member of project ${result.project}.`,
      ]);
    });
}
