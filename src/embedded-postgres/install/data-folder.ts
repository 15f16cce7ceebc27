import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { giveTo, runAs } from './account.ts';
import type { Binaries, BinaryPackage } from './binaries.ts';
import { EmbeddedPostgresError, errorCode } from './error.ts';
import type { Layout } from './layout.ts';

/** The superuser that initdb makes, and the database that Burgee keeps its tables in. */
export const DATABASE_USER = 'burgee';
export const DATABASE_NAME = 'burgee';

/** The provider `builtin` needs no locale from the system, so every machine sorts alike. */
const INITDB_OPTIONS = [
  `--username=${DATABASE_USER}`,
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  // Unicode folding for lower() and ILIKE, the same on every machine, without a system locale.
  '--builtin-locale=C.UTF-8',
  '--auth=scram-sha-256',
  '--no-instructions',
];

const DRAFT_SUFFIX = '.unfinished';

/**
 * Whether the folder holds a database of the PostgreSQL that this release brings; false when there
 * is none yet. Throws an `EmbeddedPostgresError` with instructions for another major version, and
 * when the folder holds something else.
 */
export function hasDatabase(dataFolder: string, needed: BinaryPackage): boolean {
  const found = readMajorVersion(dataFolder);
  if (found === needed.major) return true;
  if (found !== undefined) {
    throw new EmbeddedPostgresError(
      `The database in ${dataFolder} was made by PostgreSQL ${found}, and this release of Burgee ` +
        `brings PostgreSQL ${needed.major}, which cannot open it. Start the Burgee release that ` +
        'made it, dump the database with pg_dump, stop it, move the folder away, start this ' +
        'release and load the dump. Or stay with the older release.',
    );
  }
  if (!existsSync(dataFolder) || readdirSync(dataFolder).length === 0) return false;
  throw new EmbeddedPostgresError(
    `${dataFolder} holds files and no database (PG_VERSION is missing). Move it away, or restore ` +
      'it from a backup.',
  );
}

/**
 * Makes the database's files in a temporary sibling and renames that, so that a kill in the middle
 * leaves nothing in the way of the next start. Throws an `EmbeddedPostgresError` with initdb's own
 * words when it fails.
 */
export async function initialiseDatabase(
  layout: Layout,
  binaries: Binaries,
  password: string,
  isDurable: boolean,
): Promise<void> {
  removeDrafts(layout);
  // A new name each time: the initdb of a killed Burgee may still be writing into its own draft.
  const draft = `${layout.dataFolder}${DRAFT_SUFFIX}-${randomUUID()}`;
  const passwordDraft = `${draft}-password`;
  mkdirSync(draft);
  chmodSync(draft, 0o700);
  giveTo(layout.account, draft);
  // initdb takes the password from a file that its own account can read.
  writeFileSync(passwordDraft, `${password}\n`, { mode: 0o600 });
  giveTo(layout.account, passwordDraft);
  try {
    await runInitdb(layout, binaries, [
      ...INITDB_OPTIONS,
      ...(isDurable ? [] : ['--no-sync']),
      `--pwfile=${passwordDraft}`,
      `--pgdata=${draft}`,
    ]);
    renameSync(draft, layout.dataFolder);
  } finally {
    removeDrafts(layout);
  }
}

function removeDrafts(layout: Layout): void {
  const prefix = `${basename(layout.dataFolder)}${DRAFT_SUFFIX}`;
  for (const name of readdirSync(layout.base)) {
    if (!name.startsWith(prefix)) continue;
    rmSync(join(layout.base, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runInitdb(layout: Layout, binaries: Binaries, options: string[]): Promise<void> {
  const child = spawn(binaries.initdb, options, {
    ...runAs(layout.account),
    cwd: layout.base,
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const status = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  if (status === 0) return;
  throw new EmbeddedPostgresError(
    `Preparing the database in ${layout.dataFolder} failed (initdb ended with ${status}):\n${output.trim()}`,
  );
}

function readMajorVersion(dataFolder: string): string | undefined {
  try {
    return readFileSync(join(dataFolder, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
