import type { Command } from 'commander';
import { SCOPES } from '../domain/common/access.ts';
import { LIMITS } from '../domain/database/deadlines.ts';
import { transaction } from '../domain/database/transaction.ts';
import {
  createPersonalApiKey,
  revokePersonalApiKey,
} from '../domain/projects/api-keys-commands.ts';
import { listPersonalApiKeys } from '../domain/projects/api-keys-queries.ts';
import {
  type CliContext,
  type CommonOptions,
  formatTable,
  parseList,
  printResult,
  withDatabase,
} from './context.ts';
import { findProjects, findUser, onlyUser } from './members.ts';

interface CreateOptions extends CommonOptions {
  readonly user?: string;
  readonly projects?: string[];
  readonly scopes: string[];
  readonly label: string;
}

/** Adds `burgee keys create|list|revoke`. */
export function addKeyCommands(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('create, list and revoke personal API keys');
  addCreate(keys, context);
  addList(keys, context);
  addRevoke(keys, context);
}

function addCreate(keys: Command, context: CliContext): void {
  keys
    .command('create')
    .description('create a personal API key and print it; it is shown only once')
    .option('--user <email>', 'the user whose key it is (the only user when there is one)')
    .option('--projects <ids>', 'limit the key to these projects, separated by commas', parseList)
    .requiredOption(
      '--scopes <scopes>',
      `what it may do, separated by commas, of ${SCOPES.join(', ')}`,
      parseList,
    )
    .requiredOption('--label <label>', 'what it is for')
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      const created = await withDatabase(context, (db) =>
        transaction(db, LIMITS.configuration, async (tx) => {
          const user =
            options.user === undefined
              ? await onlyUser(tx, '--user')
              : await findUser(tx, options.user);
          const projects =
            options.projects === undefined ? null : await findProjects(tx, options.projects);
          const { id, key } = await createPersonalApiKey(tx, {
            userId: user.id,
            label: options.label,
            scopes: options.scopes,
            projectIds: projects === null ? null : projects.map((project) => project.id),
          });
          return { id, user: user.email, label: options.label, scopes: options.scopes, key };
        }),
      );
      printResult(context, options, created, [
        `Created a key for ${created.user}. It is shown only this once:`,
        created.key,
      ]);
    });
}

function addList(keys: Command, context: CliContext): void {
  keys
    .command('list')
    .description('list the keys, without their secrets')
    .option('--json', 'print JSON')
    .action(async (options: CommonOptions) => {
      const found = await withDatabase(context, (db) => listPersonalApiKeys(db));
      printResult(
        context,
        options,
        found.map((key) => ({
          id: key.id,
          user: key.userEmail,
          label: key.label,
          hint: key.hint,
          scopes: key.scopes,
          projects: key.projectIds,
          created_at: key.createdAt,
          revoked_at: key.revokedAt,
        })),
        formatTable(
          ['ID', 'USER', 'LABEL', 'KEY', 'SCOPES', 'PROJECTS', 'STATE'],
          found.map((key) => [
            key.id,
            key.userEmail,
            key.label,
            key.hint,
            key.scopes.join(','),
            key.projectIds?.join(',') ?? 'all',
            key.revokedAt === null ? 'valid' : 'revoked',
          ]),
        ),
      );
    });
}

function addRevoke(keys: Command, context: CliContext): void {
  keys
    .command('revoke')
    .description('revoke a key; a running Burgee stops accepting it at once')
    .argument('<id>', 'the id of the key, as "keys list" shows it')
    .option('--json', 'print JSON')
    .action(async (id: string, options: CommonOptions) => {
      await withDatabase(context, (db) => revokePersonalApiKey(db, id));
      printResult(context, options, { id, revoked: true }, [`Revoked the key ${id}.`]);
    });
}
