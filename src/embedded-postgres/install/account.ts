import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync } from 'node:fs';
import { EmbeddedPostgresError } from './error.ts';

/** The account that PostgreSQL runs as when Burgee runs as root. */
export interface ServerAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses root; these exist already, and Burgee creates no accounts. */
const CANDIDATES = ['postgres', 'nobody'];

const NAME_FIELD = 0;
const UID_FIELD = 2;
const GID_FIELD = 3;

/** Whether this process is root, and so must run PostgreSQL as somebody else. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The accounts of this machine that may run PostgreSQL, the preferred one first. Throws an
 * `EmbeddedPostgresError` when there is none.
 */
export function unprivilegedAccounts(): readonly [ServerAccount, ...ServerAccount[]] {
  const [first, ...others] = parseAccounts(readFileSync('/etc/passwd', 'utf8'), CANDIDATES);
  if (first !== undefined) return [first, ...others];
  throw new EmbeddedPostgresError(
    `PostgreSQL cannot run as root, and this machine has no account named ${CANDIDATES.join(' or ')} ` +
      'to run it instead. Start Burgee as an ordinary user, or set DATABASE_URL.',
  );
}

/** The accounts of a passwd file with these names, in the order of the names; root never counts. */
export function parseAccounts(passwd: string, names: readonly string[]): ServerAccount[] {
  const lines = passwd.split('\n').map((line) => line.split(':'));
  return names.flatMap((name) => {
    const fields = lines.find((line) => line[NAME_FIELD] === name);
    // macOS writes the id of nobody as -2; the system calls want it unsigned.
    const uid = Number(fields?.[UID_FIELD] ?? Number.NaN) >>> 0;
    const gid = Number(fields?.[GID_FIELD] ?? Number.NaN) >>> 0;
    return uid === 0 ? [] : [{ name, uid, gid }];
  });
}

/** The options that make a child process run as the account; none means this process's own user. */
export function runAs(account: ServerAccount | undefined): { uid?: number; gid?: number } {
  // Node takes signed 32-bit ids here.
  return account === undefined ? {} : { uid: account.uid | 0, gid: account.gid | 0 };
}

/**
 * Whether the account can use what lies in the folder, every parent and access list considered.
 * Throws an `EmbeddedPostgresError` when root may not start programs as that account.
 */
export function canEnter(folder: string, account: ServerAccount | undefined): boolean {
  if (account === undefined) return true;
  const probe = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], {
    ...runAs(account),
    cwd: '/',
    stdio: 'ignore',
  });
  if (probe.error === undefined) return probe.status === 0;
  throw new EmbeddedPostgresError(
    `PostgreSQL cannot run as root, and this root may not start a program as the account ` +
      `${account.name} (${probe.error.message}). In a container, allow SETUID and SETGID or run ` +
      'as an ordinary user. Or set DATABASE_URL.',
    { cause: probe.error },
  );
}

/** Gives a file or folder to the account; does nothing without one. */
export function giveTo(account: ServerAccount | undefined, path: string): void {
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}
