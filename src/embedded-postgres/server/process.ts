import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { errorCode } from '../install/error.ts';

/** Where `starttime` (field 22 of /proc/<pid>/stat) stands after the process name. */
const START_TIME_INDEX = 19;

/** Whether a process with this id runs. A process of another user counts, a zombie does not. */
export function isProcessAlive(pid: number): boolean {
  if (!canSignal(pid)) return false;
  return process.platform !== 'linux' || linuxStat(pid)?.[0] !== 'Z';
}

/** Whether the system knows the id at all; PostgreSQL judges its own lock files by this. */
export function canSignal(pid: number): boolean {
  // Zero and below mean whole groups of processes.
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * When the process started, as a text that only that process ever has, so that a recycled id is
 * not mistaken for it. Undefined when the process is gone or the system does not say (Windows).
 */
export function processStartTime(pid: number): string | undefined {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') return psField(pid, 'lstart');
  const ticksSinceBoot = linuxStat(pid)?.[START_TIME_INDEX];
  return ticksSinceBoot === undefined ? undefined : `${bootId()}/${ticksSinceBoot}`;
}

/**
 * Whether the process can be PostgreSQL's main process over this folder. Says false only when the
 * system proves it: the process is gone, is another program, or works in another folder.
 */
export function mayBePostgresIn(dataFolder: string, pid: number): boolean {
  if (!isProcessAlive(pid)) return false;
  const program = programName(pid);
  if (program !== undefined && program !== 'postgres') return false;
  const folder = process.platform === 'linux' ? fileId(`/proc/${pid}/cwd`) : undefined;
  const expected = fileId(dataFolder);
  return folder === undefined || expected === undefined || folder === expected;
}

function programName(pid: number): string | undefined {
  if (process.platform === 'win32') return undefined;
  const name =
    process.platform === 'linux' ? readOrUndefined(`/proc/${pid}/comm`) : psField(pid, 'comm');
  return name === undefined ? undefined : basename(name.trim());
}

function psField(pid: number, field: string): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' });
  const text = stdout?.trim() ?? '';
  return text === '' ? undefined : text;
}

/** The fields of /proc/<pid>/stat from the state on; the name before them may hold spaces. */
function linuxStat(pid: number): string[] | undefined {
  const text = readOrUndefined(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

function bootId(): string {
  return readOrUndefined('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function fileId(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
