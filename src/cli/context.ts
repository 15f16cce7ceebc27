import { InvalidArgumentError } from 'commander';
import { type Config, readConfig } from '../app/config.ts';
import { openDatabase } from '../app/open-database.ts';
import type { Db } from '../domain/database/db.ts';
import { migrateToLatest } from '../domain/database/migrate.ts';

/** What a command works with. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints a result to standard output. */
  readonly print: (text: string) => void;
  /** Prints progress and problems to standard error. */
  readonly complain: (text: string) => void;
}

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: boolean;
}

/**
 * Runs work on the database of the configuration: of a running Burgee if there is one, else on one
 * that is started for it. The schema is brought up to date first.
 */
export async function withDatabase<Result>(
  context: CliContext,
  work: (db: Db, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(context.env);
  const database = await openDatabase(config, 'adopt-or-start', {
    info: context.complain,
    warn: context.complain,
    error: context.complain,
  });
  try {
    await migrateToLatest(database.db, context.complain);
    return await work(database.db, config);
  } finally {
    await database.close();
  }
}

/** Prints a result: as JSON for programs, else as lines for people. */
export function printResult(
  context: CliContext,
  options: CommonOptions,
  result: unknown,
  lines: readonly string[],
): void {
  context.print(options.json === true ? JSON.stringify(result, null, 2) : lines.join('\n'));
}

/** Rows as columns of equal width, under their headings. */
export function formatTable(headings: readonly string[], rows: readonly string[][]): string[] {
  const all = [[...headings], ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  );
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** The values of a list that is separated by commas; throws when the list is empty. */
export function parseList(text: string): string[] {
  const values = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (values.length === 0) throw new InvalidArgumentError('Pass at least one value.');
  return values;
}
