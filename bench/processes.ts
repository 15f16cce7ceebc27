import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';

/** A server that is measured, in a process of its own. */
export interface MeasuredProcess {
  readonly url: string;
  /** Resident memory of the process, in MB; null where the system does not tell. */
  memoryMb(): Promise<number | null>;
  /** Processor time that it has used, in milliseconds; null where the system does not tell. */
  cpuMs(): Promise<number | null>;
  stop(): Promise<void>;
}

const TASKSET = '/usr/bin/taskset';

/** Counted at the start: a process that is bound counts only the cores it is bound to. */
const CORES = availableParallelism();

/**
 * Binds this process, and what it starts from now on, to the other cores than the servers that are
 * measured, where that is possible. Says whether it was.
 */
export function leaveFirstCore(): boolean {
  return CORES > 1 && bindTo(`1-${CORES - 1}`);
}

/** Takes that back: what is started from now on may use every core, as it would anywhere. */
export function useEveryCore(): void {
  bindTo(`0-${CORES - 1}`);
}

function bindTo(cores: string): boolean {
  if (!existsSync(TASKSET)) return false;
  const args = ['--all-tasks', '--cpu-list', '--pid', cores, String(process.pid)];
  return spawnSync(TASKSET, args).status === 0;
}

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 20;

/**
 * Starts a script as a server on a free port, bound to the first core where that is
 * possible and `isBound` does not say otherwise, and waits until `readyPath` answers 200.
 */
export async function startProcess(
  file: string,
  env: Readonly<Record<string, string>>,
  readyPath: string,
  isBound = true,
): Promise<MeasuredProcess> {
  const port = await freePort();
  const node = [process.execPath, ...(file.endsWith('.ts') ? ['--import', 'tsx'] : []), file];
  const [command = '', ...args] =
    isBound && existsSync(TASKSET) ? [TASKSET, '--cpu-list', '0', ...node] : node;
  const child = spawn(command, args, {
    env: { ...process.env, ...env, PORT: String(port), NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(child, `${url}${readyPath}`);
  return {
    url,
    memoryMb: () => readMemoryMb(child),
    cpuMs: () => readCpuMs(child),
    async stop() {
      if (hasEnded(child)) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Whether it ended by itself or by a signal, such as one for too much memory. */
function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function waitUntilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (hasEnded(child)) throw new Error('The server to be measured did not start.');
    const isReady = await fetch(url).then(
      (reply) => reply.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${url} did not answer in time.`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

async function readMemoryMb(child: ChildProcess): Promise<number | null> {
  const status = `/proc/${child.pid}/status`;
  if (!existsSync(status)) return null;
  const kib = /VmRSS:\s+(\d+) kB/.exec(await readFile(status, 'utf8'))?.[1];
  return kib === undefined ? null : Number(kib) / 1024;
}

/** The kernel counts in ticks of this length. */
const TICK_MS = 10;

async function readCpuMs(child: ChildProcess): Promise<number | null> {
  const file = `/proc/${child.pid}/stat`;
  if (!existsSync(file)) return null;
  const text = await readFile(file, 'utf8');
  // The name of the command, in brackets, may have spaces; user and system time are 12th and 13th after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
