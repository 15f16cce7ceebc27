import type { Command } from 'commander';
import { addMember, createProject } from '../domain/projects/projects-commands.ts';
import { listProjects } from '../domain/projects/projects-queries.ts';
import {
  type CliContext,
  type CommonOptions,
  formatTable,
  parseList,
  printResult,
  withDatabase,
} from './context.ts';
import { findUser, onlyUser } from './members.ts';

interface CreateOptions extends CommonOptions {
  readonly name: string;
  readonly members?: string[];
}

/** Adds `burgee projects create|list`. */
export function addProjectCommands(program: Command, context: CliContext): void {
  const projects = program.command('projects').description('create and list projects');

  projects
    .command('create')
    .description('create a project and print its keys; the secret key is shown this once')
    .requiredOption('--name <name>', 'the name of the project')
    .option(
      '--members <emails>',
      'users who may work on it, separated by commas (the only user when there is one)',
      parseList,
    )
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      const created = await withDatabase(context, (db) =>
        db.transaction(async (tx) => {
          const members =
            options.members === undefined
              ? [await onlyUser(tx)]
              : await Promise.all(options.members.map((email) => findUser(tx, email)));
          const { project, secretKey } = await createProject(tx, { name: options.name });
          for (const member of members) await addMember(tx, member.id, project.id);
          return {
            id: project.id,
            name: project.name,
            project_api_key: project.apiToken,
            project_secret_key: secretKey,
            members: members.map((member) => member.email),
          };
        }),
      );
      printResult(context, options, created, [
        `Project ${created.id} "${created.name}" is created.`,
        `  Project API key     ${created.project_api_key}`,
        `  Project secret key  ${created.project_secret_key}`,
        `  Members             ${created.members.join(', ')}`,
      ]);
    });

  projects
    .command('list')
    .description('list the projects')
    .option('--json', 'print JSON')
    .action(async (options: CommonOptions) => {
      const found = await withDatabase(context, (db) => listProjects(db));
      printResult(
        context,
        options,
        found.map((project) => ({
          id: project.id,
          name: project.name,
          project_api_key: project.apiToken,
          timezone: project.timezone,
          created_at: project.createdAt,
        })),
        formatTable(
          ['ID', 'NAME', 'PROJECT API KEY'],
          found.map((project) => [String(project.id), project.name, project.apiToken]),
        ),
      );
    });
}
