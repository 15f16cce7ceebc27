import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../install/error.ts';
import { canSignal, mayBePostgresIn } from './process.ts';

/** What a PostgreSQL server writes about itself into `postmaster.pid`. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  /** Empty when the server has no Unix socket. */
  readonly socketFolder: string;
  /** Empty when the server has no TCP port. */
  readonly listenAddress: string;
  /** `starting`, `stopping`, `ready` or `standby`; empty in the first moments. */
  readonly status: string;
}

const PID_LINE = 0;
const PORT_LINE = 3;
const SOCKET_LINE = 4;
const ADDRESS_LINE = 5;
const STATUS_LINE = 7;

/** Reads `postmaster.pid` of a PostgreSQL data folder; undefined when there is none. */
export function readPostmasterFile(dataFolder: string): PostmasterFile | undefined {
  try {
    return parsePostmasterFile(readFileSync(postmasterPath(dataFolder), 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The content of a `postmaster.pid`; undefined when it holds no process id. */
export function parsePostmasterFile(text: string): PostmasterFile | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  // A negative id marks a stand-alone backend.
  const pid = Math.abs(Number(lines[PID_LINE]));
  if (!Number.isInteger(pid) || pid === 0) return undefined;
  return {
    pid,
    port: Number(lines[PORT_LINE] ?? 0),
    socketFolder: lines[SOCKET_LINE] ?? '',
    listenAddress: lines[ADDRESS_LINE] ?? '',
    status: lines[STATUS_LINE] ?? '',
  };
}

/**
 * Removes the lock files of a dead server whose process id another process has now: PostgreSQL
 * would take that one for a living server and refuse to start. When the id is free, the files stay:
 * PostgreSQL replaces them itself and then also finds backends that outlived their server.
 */
export function removeRecycledLockFiles(dataFolder: string): void {
  const file = readPostmasterFile(dataFolder);
  if (file === undefined || !canSignal(file.pid) || mayBePostgresIn(dataFolder, file.pid)) return;
  rmSync(postmasterPath(dataFolder), { force: true });
  if (file.socketFolder !== '') {
    rmSync(join(file.socketFolder, `.s.PGSQL.${file.port}.lock`), { force: true });
  }
}

function postmasterPath(dataFolder: string): string {
  return join(dataFolder, 'postmaster.pid');
}
