import { type Command, InvalidArgumentError } from 'commander';
import { LIMITS } from '../domain/database/deadlines.ts';
import { transaction } from '../domain/database/transaction.ts';
import { addMember, createProject, updateProject } from '../domain/projects/projects-commands.ts';
import { listProjects } from '../domain/projects/projects-queries.ts';
import {
  type CliContext,
  type CommonOptions,
  formatTable,
  parseList,
  printResult,
  withDatabase,
} from './context.ts';
import { findProject, findUser, onlyUser } from './members.ts';
import { addProjectMemberCommands } from './project-members.ts';

interface CreateOptions extends CommonOptions {
  readonly name: string;
  readonly members?: string[];
}

interface QuotaOptions extends CommonOptions {
  readonly flagRequestsPerMonth: number | 'none';
}

/** Adds `burgee projects create|list|set-quota` and what is about members. */
export function addProjectCommands(program: Command, context: CliContext): void {
  const projects = program
    .command('projects')
    .description('create, list and limit projects, and say who may work on them');
  addCreate(projects, context);
  addList(projects, context);
  addSetQuota(projects, context);
  addProjectMemberCommands(projects, context);
}

function addCreate(projects: Command, context: CliContext): void {
  projects
    .command('create')
    .description('create a project and print its keys; the secret key is shown only once')
    .requiredOption('--name <name>', 'the name of the project')
    .option(
      '--members <emails>',
      'users who may work on it, separated by commas (the only user when there is one)',
      parseList,
    )
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      const created = await withDatabase(context, (db) =>
        transaction(db, LIMITS.configuration, async (tx) => {
          const members =
            options.members === undefined
              ? [await onlyUser(tx, '--members')]
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
        `Created project ${created.id} "${created.name}".`,
        `  Project API key     ${created.project_api_key}`,
        `  Project secret key  ${created.project_secret_key}`,
        `  Members             ${created.members.join(', ')}`,
      ]);
    });
}

function addList(projects: Command, context: CliContext): void {
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
          flag_requests_per_month: project.flagRequestsPerMonth,
          created_at: project.createdAt,
        })),
        formatTable(
          ['ID', 'NAME', 'PROJECT API KEY'],
          found.map((project) => [String(project.id), project.name, project.apiToken]),
        ),
      );
    });
}

function addSetQuota(projects: Command, context: CliContext): void {
  projects
    .command('set-quota')
    .description('limit the requests of a project; a running Burgee holds it to that at once')
    .argument('<id>', 'the id of the project')
    .requiredOption(
      '--flag-requests-per-month <count>',
      'evaluations count 1, changed definitions 10; "none" lifts the limit',
      parseQuota,
    )
    .option('--json', 'print JSON')
    .action(async (id: string, options: QuotaOptions) => {
      const { flagRequestsPerMonth: wanted } = options;
      const perMonth = wanted === 'none' ? null : wanted;
      await withDatabase(context, async (db) => {
        const project = await findProject(db, id);
        // A running Burgee hears of the change; nothing is served from here.
        const changes = { db, onCommitted: async () => {} };
        await updateProject(changes, project.id, { flagRequestsPerMonth: perMonth });
      });
      printResult(context, options, { id: Number(id), flag_requests_per_month: perMonth }, [
        perMonth === null
          ? `Project ${id} has no limit.`
          : `Project ${id} is limited to ${perMonth} requests a month.`,
      ]);
    });
}

/** Not null for none: Commander would take that for a text that is missing. */
function parseQuota(text: string): number | 'none' {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) {
    throw new InvalidArgumentError('Must be a whole number or "none".');
  }
  return Number(text);
}
