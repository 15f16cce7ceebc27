import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { canEnter, isRoot, type ServerAccount, unprivilegedAccounts } from './account.ts';
import { EmbeddedPostgresError, errorCode, userName } from './error.ts';

/** Where everything of one embedded database lives, and who owns PostgreSQL's part of it. */
export interface Layout {
  /** Burgee's data folder as the operator wrote it, for messages. */
  readonly shownAs: string;
  readonly dataDir: string;
  /** Who runs PostgreSQL; undefined means the user who runs Burgee. */
  readonly account: ServerAccount | undefined;
  /** The folder that holds PostgreSQL's files: the data folder, or a system folder. */
  readonly base: string;
  readonly dataFolder: string;
  readonly passwordFile: string;
  readonly lockFile: string;
  readonly logFile: string;
  /** Names `base` when that is not the data folder. */
  readonly locationFile: string;
}

const SYSTEM_FOLDER = '/var/lib/burgee';

const PRIVATE_MODE = 0o700;

/** Others may pass through to a file that they own, and see nothing else. */
const PASSABLE_MODE = 0o711;

/**
 * Creates the data folder when it is missing and decides where PostgreSQL's files live and which
 * account owns them. As root that account must reach them; when it cannot, they live in a system
 * folder. Throws an `EmbeddedPostgresError` when another user's files are in the way.
 */
export function layOut(dataDirOption: string, systemFolder: string = SYSTEM_FOLDER): Layout {
  const dataDir = resolve(dataDirOption);
  createFolder(dataDir);
  const passwordFile = join(dataDir, 'postgres-password');
  const locationFile = join(dataDir, 'postgres.location');
  const firstUser = ownerId(passwordFile);
  const self = process.getuid?.();
  if (self !== undefined && firstUser !== undefined && firstUser !== self) {
    throw belongsToAnother(dataDir, firstUser);
  }
  const recorded = readLocation(locationFile);
  const accounts = isRoot() ? unprivilegedAccounts() : undefined;
  const preferred = accounts?.[0];
  const inPlace = join(dataDir, 'postgres');
  const base =
    recorded ??
    (existsSync(inPlace) || canEnter(dataDir, preferred)
      ? dataDir
      : join(systemFolder, shortHash(dataDir)));
  const dataFolder = join(base, 'postgres');
  return {
    shownAs: dataDirOption,
    dataDir,
    account: ownerOf(dataFolder, accounts) ?? preferred,
    base,
    dataFolder,
    passwordFile,
    lockFile: join(dataDir, 'burgee.pid'),
    logFile: join(dataDir, 'postgres.log'),
    locationFile,
  };
}

/**
 * Creates the folder for PostgreSQL's files and makes sure that its account reaches it. Call it
 * with the data folder locked. Throws when the account was locked out since the last start.
 */
export function createBase(layout: Layout): void {
  if (layout.base !== layout.dataDir) {
    createFolder(layout.base);
    writeFileSync(layout.locationFile, `${layout.base}\n`, { mode: 0o600 });
  }
  if (canEnter(layout.base, layout.account)) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL runs as the account ${layout.account?.name ?? ''}, which cannot reach ` +
      `${layout.base}: that folder or one above it is closed to others. Open it for passing ` +
      'through (chmod o+x), or give Burgee another data folder.',
  );
}

/** A short name that stands for a path. */
export function shortHash(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}

function createFolder(folder: string): void {
  const topmost = mkdirSync(folder, { recursive: true });
  if (topmost === undefined) return;
  // Only what was made just now gets a mode, and the umask has no say in it.
  for (let made = folder; made.length >= topmost.length; made = dirname(made)) {
    chmodSync(made, isRoot() ? PASSABLE_MODE : PRIVATE_MODE);
  }
}

function readLocation(locationFile: string): string | undefined {
  let location: string;
  try {
    location = readFileSync(locationFile, 'utf8').trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (existsSync(location)) return location;
  throw new EmbeddedPostgresError(
    `${locationFile} says that the database lives in ${location}, and that folder does not exist. ` +
      'Bring it back, or delete the note to start with an empty database.',
  );
}

/** The account that owns existing data; undefined when there is none, or for an ordinary user. */
function ownerOf(
  dataFolder: string,
  accounts: readonly ServerAccount[] | undefined,
): ServerAccount | undefined {
  const uid = ownerId(dataFolder);
  if (uid === undefined) return undefined;
  const account = accounts?.find((candidate) => candidate.uid === uid);
  const self = process.getuid?.();
  const isOurs =
    accounts === undefined ? self === undefined || uid === self : account !== undefined;
  if (isOurs) return account;
  throw belongsToAnother(dataFolder, uid);
}

function belongsToAnother(folder: string, uid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The database in ${folder} belongs to ${userName(uid)}, and Burgee now runs as ` +
      `${userName(process.getuid?.())}. Start Burgee as the user that first started it on this ` +
      'folder, or give it another data folder.',
  );
}

function ownerId(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
