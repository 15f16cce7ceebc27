import { createHash, randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError, errorCode } from '../install/error.ts';
import { onProcessExit } from './exit.ts';
import { isProcessAlive, processStartTime } from './process.ts';

/** Who holds a data folder: the service for as long as it runs, a command while it works. */
export interface LockHolder {
  readonly pid: number;
  /** Tells the process from a later one with the same id; null when the system does not say. */
  readonly startTime: string | null;
  readonly role: 'service' | 'command';
  readonly id: string;
}

/** The data folder is ours until `release`, or until this process ends. */
export interface FolderLock {
  release(): void;
}

const MAX_ATTEMPTS = 500;
const RETRY_MS = 10;

/** A takeover lasts microseconds; one this old was cut short by a kill. */
const TAKEOVER_ABANDONED_MS = 5_000;

/**
 * Takes the lock file, also from a process that no longer lives. Returns the lock, or the living
 * process that holds it. Of several processes that try at once exactly one gets the lock.
 */
export async function tryLockFolder(
  lockFile: string,
  role: LockHolder['role'],
): Promise<{ lock: FolderLock } | { holder: LockHolder }> {
  const startTime = processStartTime(process.pid) ?? null;
  const own: LockHolder = { pid: process.pid, startTime, role, id: randomUUID() };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    if (createExclusively(lockFile, own)) return { lock: heldLock(lockFile, own) };
    const text = readIfPresent(lockFile);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder !== undefined && isHolderAlive(holder)) return { holder };
    if (!removeStale(lockFile, text)) await delay(RETRY_MS);
  }
  throw new EmbeddedPostgresError(
    `The lock file ${lockFile} is left over from a process that no longer runs, and could not be ` +
      'replaced. Delete it and start again.',
  );
}

function heldLock(lockFile: string, own: LockHolder): FolderLock {
  const release = (): void => {
    callOff();
    const text = readIfPresent(lockFile);
    if (text !== undefined && parseHolder(text)?.id === own.id) rmSync(lockFile, { force: true });
  };
  const callOff = onProcessExit(release);
  return { release };
}

/** The link makes file and content appear at once, so that nobody reads a half-written lock. */
function createExclusively(lockFile: string, own: LockHolder): boolean {
  const draft = `${lockFile}.${own.id}`;
  const text = `${JSON.stringify(own)}\n`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, lockFile);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    return createWithoutLink(lockFile, text);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** For file systems without hard links. */
function createWithoutLink(lockFile: string, text: string): boolean {
  try {
    writeFileSync(lockFile, text, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes exactly this stale lock. Its takeover file is exclusive, and only who holds that may
 * remove the lock with this text; so nobody can remove the lock that a faster process just made.
 */
function removeStale(lockFile: string, text: string): boolean {
  const name = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const takeover = `${lockFile}.${name}`;
  if (!createWithoutLink(takeover, '')) {
    dropAbandoned(takeover);
    return false;
  }
  try {
    if (readIfPresent(lockFile) === text) unlinkSync(lockFile);
    return true;
  } finally {
    rmSync(takeover, { force: true });
  }
}

function dropAbandoned(takeover: string): void {
  try {
    if (Date.now() - statSync(takeover).mtimeMs > TAKEOVER_ABANDONED_MS) unlinkSync(takeover);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function isHolderAlive(holder: LockHolder): boolean {
  if (!isProcessAlive(holder.pid)) return false;
  const startTime = processStartTime(holder.pid);
  return holder.startTime === null || startTime === undefined || startTime === holder.startTime;
}

function parseHolder(text: string): LockHolder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('pid' in value && 'startTime' in value && 'role' in value && 'id' in value)) {
    return undefined;
  }
  const { pid, startTime, role, id } = value;
  if (typeof pid !== 'number' || typeof id !== 'string') return undefined;
  if (startTime !== null && typeof startTime !== 'string') return undefined;
  if (role !== 'service' && role !== 'command') return undefined;
  return { pid, startTime, role, id };
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
