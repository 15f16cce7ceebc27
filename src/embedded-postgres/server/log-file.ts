import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs';

const MAX_LOG_BYTES = 10_000_000;

const TAIL_LINES = 15;

/**
 * Opens PostgreSQL's log for a new server and returns the descriptor to hand to it; the log of the
 * server before is kept as `<file>.1`. Appending makes it safe to cut the file while it is written.
 */
export function openLogFile(file: string): number {
  if (existsSync(file)) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** Closes this process's copy of the descriptor; the server keeps its own. */
export function closeLogFile(descriptor: number): void {
  closeSync(descriptor);
}

/** Keeps the log of a running server bounded: what is too long moves to `<file>.1`. */
export function boundLogFile(file: string, maxBytes = MAX_LOG_BYTES): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= maxBytes) return;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
}

/** The last lines of the log, for an error message. */
export function readLogTail(file: string): string {
  if (!existsSync(file)) return '(the log is empty)';
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.slice(-TAIL_LINES).join('\n');
}
