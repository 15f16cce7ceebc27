import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { EmbeddedPostgresError, errorCode } from './error.ts';
import type { Layout } from './layout.ts';

const PASSWORD_BYTES = 24;

/** The stored password of the database. Throws an `EmbeddedPostgresError` when it is gone. */
export function readPassword(layout: Layout): string {
  const password = readIfPresent(layout.passwordFile);
  if (password !== undefined) return password;
  throw new EmbeddedPostgresError(
    `The file ${layout.passwordFile} with the password of the embedded database is missing. ` +
      'Restore it from a backup of the data folder.',
  );
}

/** The stored password, generated and stored for this user's eyes only when there is none. */
export function readOrCreatePassword(layout: Layout): string {
  const existing = readIfPresent(layout.passwordFile);
  if (existing !== undefined) return existing;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const file = openSync(layout.passwordFile, 'w', 0o600);
  try {
    writeSync(file, `${password}\n`);
    // The database is useless without it, so it must survive a power cut as the database does.
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return password;
}

/** An empty file is one that a crash cut short before the database existed. */
function readIfPresent(file: string): string | undefined {
  try {
    const password = readFileSync(file, 'utf8').trim();
    return password === '' ? undefined : password;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
