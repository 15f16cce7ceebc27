import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Build } from './build.ts';

/** A server that is measured, in a process of its own. */
export interface MeasuredProcess {
  readonly pid: number;
  readonly url: string;
  /** From the start of the process until it said that it is ready. */
  readonly readyAfterMs: number;
  /** Resident memory of the process, in MB; null where the system does not tell. */
  memoryMb(): number | null;
  stop(): Promise<void>;
}

const TASKSET = '/usr/bin/taskset';

/** Counted at the start: a process that is bound counts only the cores it is bound to. */
const CORES = availableParallelism();

/** How many cores are left for the load when the server has one of its own. */
export const CORES_FOR_LOAD = Math.max(1, CORES - 1);

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

/** A machine with much other work starts a service in half a minute. */
const READY_TIMEOUT_MS = 180_000;
const POLL_MS = 5;

/** Bound to the first core, or free to use every core that this process may use. */
export type Binding = 'first core' | 'free';

/** Starts the service of a build on a free port and waits until it is ready. */
export function startBuild(
  build: Build,
  env: Readonly<Record<string, string>>,
  binding: Binding,
): Promise<MeasuredProcess> {
  return startNode(build.script, {
    env: { LOG_LEVEL: 'warn', ...env },
    binding,
    cwd: build.folder,
  });
}

/** Starts the server that Burgee is compared with; it answers with the bytes of a file. */
export function startBareServer(
  replyFile: string,
  status: number,
  binding: Binding,
): Promise<MeasuredProcess> {
  const env = { BARE_REPLY_FILE: replyFile, BARE_STATUS: String(status) };
  const script = ['--import', 'tsx', 'bench/bare-server.ts'];
  return startNode(script, { env, binding, cwd: process.cwd() });
}

interface Start {
  readonly env: Readonly<Record<string, string>>;
  readonly binding: Binding;
  readonly cwd: string;
}

/** Both kinds of server tell by this path that they are ready. */
const READY_PATH = '/_readiness';

async function startNode(
  script: readonly string[],
  { env, binding, cwd }: Start,
): Promise<MeasuredProcess> {
  const port = await freePort();
  const node = [process.execPath, ...script];
  const isBound = binding === 'first core' && existsSync(TASKSET);
  const [command = '', ...args] = isBound ? [TASKSET, '--cpu-list', '0', ...node] : node;
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env, PORT: String(port), NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitUntilReady(child, `${url}${READY_PATH}`);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const readyAfterMs = performance.now() - startedAt;
  const { pid } = child;
  if (pid === undefined) throw new Error('A process that runs has no id.');
  return {
    pid,
    url,
    readyAfterMs,
    memoryMb: () => readMemoryMb(pid),
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

function readMemoryMb(pid: number): number | null {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return null;
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(status, 'utf8'))?.[1];
  return kib === undefined ? null : Number(kib) / 1024;
}
