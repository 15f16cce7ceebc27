import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { buildService } from './built-service.ts';

/** A Burgee in a process of its own, as a person at a terminal sees it. */
export interface BurgeeProcess {
  readonly pid: number;
  /** What it has printed for people so far. */
  readonly output: () => string;
  /** What it has logged and complained about so far. */
  readonly errors: () => string;
  /** Resolves with its address once it says that it is ready; rejects when it ends before. */
  readonly ready: Promise<string>;
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
  /** Goes away as the reader of what it prints and logs, as `head` does. */
  stopReading(): void;
}

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const READY = /Burgee is ready at (\S+)/;

const running = new Set<ChildProcess>();

/** Runs the built service with these variables and no others of Burgee's. */
export function startBurgeeProcess(env: Readonly<Record<string, string>>): BurgeeProcess {
  buildService();
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: REPOSITORY,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'test', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = once(child, 'close').then(([code, signal]): number | string => {
    running.delete(child);
    return typeof code === 'number' ? code : String(signal);
  });
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const url = READY.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then((code) => reject(new Error(`Ended with ${code}: ${errors}`)));
  });
  // A test that waits for the end only is not interested in this one.
  ready.catch(() => {});
  return {
    pid: child.pid ?? 0,
    output: () => output,
    errors: () => errors,
    ready,
    ended,
    kill: (signal) => child.kill(signal),
    stopReading() {
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
}

/** Ends what a failed test left running; the databases that they started end with them. */
export async function endBurgeeProcesses(): Promise<void> {
  const left = [...running];
  for (const child of left) child.kill('SIGTERM');
  await Promise.all(left.map((child) => once(child, 'close')));
}
