import { Command, CommanderError } from 'commander';
import { ConfigError } from '../app/config.ts';
import { describeFailure } from '../process/describe-failure.ts';
import { processHooks } from '../process/process-hooks.ts';
import { runService } from '../process/run-service.ts';
import type { CliContext, CommonOptions } from './context.ts';
import { printResult, withDatabase } from './context.ts';
import { addKeyCommands } from './keys.ts';
import { addProjectCommands } from './projects.ts';
import { addUserCommands } from './users.ts';

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/**
 * Runs one command of the command line and returns the exit code: 0 when it worked, 1 when it
 * failed, 2 when it was called wrongly.
 */
export async function runCli(
  args: readonly string[],
  context: CliContext,
  version: string,
): Promise<number> {
  let exitCode = EXIT_OK;
  const program = new Command('burgee')
    .description('Self-hosted feature flags: management, evaluation and event capture.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.print(text.replace(/\n$/, '')),
      writeErr: (text) => context.complain(text.replace(/\n$/, '')),
    });

  program
    .command('serve')
    .description('run the service; the same as "npm start"')
    .action(async () => {
      exitCode = await runService(processHooks(context.env));
    });
  program
    .command('migrate')
    .description('bring the database up to date; the service does so when it starts')
    .option('--json', 'print JSON')
    .action(async (options: CommonOptions) => {
      await withDatabase(context, async () => {});
      printResult(context, options, { up_to_date: true }, ['The database is up to date.']);
    });
  addProjectCommands(program, context);
  addUserCommands(program, context);
  addKeyCommands(program, context);
  inheritSettings(program);

  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
    context.complain(describeFailure(error));
    return error instanceof ConfigError ? EXIT_USAGE : EXIT_FAILED;
  }
}

/** Commander hands settings down when a command is added, but not to commands made before. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritSettings(child);
  }
}
