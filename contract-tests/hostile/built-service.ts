import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const LOCK = join(REPOSITORY, 'node_modules/.hostile-build');
const RETRY_MS = 200;
const LOCK_MAX_MS = 60_000;

/** Brings `dist` up to date with the source; test files that want that at one time take turns. */
export async function buildService(): Promise<void> {
  const deadline = Date.now() + LOCK_MAX_MS;
  // A lock that a killed run has left behind is passed over in the end.
  while (Date.now() < deadline && !(await takeLock())) await delay(RETRY_MS);
  try {
    await run(process.execPath, ['scripts/build.js'], { cwd: REPOSITORY });
  } finally {
    await rm(LOCK, { recursive: true, force: true });
  }
}

async function takeLock(): Promise<boolean> {
  try {
    await mkdir(LOCK);
    return true;
  } catch {
    return false;
  }
}
