import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { runAs } from '../install/account.ts';
import type { Binaries } from '../install/binaries.ts';
import { EmbeddedPostgresError } from '../install/error.ts';
import type { Layout } from '../install/layout.ts';
import type { LaunchLog } from '../install/options.ts';
import {
  createSocketFolder,
  type Endpoint,
  listenSettings,
  removeSocketFolder,
} from './endpoint.ts';
import { onProcessExit } from './exit.ts';
import { closeLogFile, openLogFile, readLogTail } from './log-file.ts';
import { readPostmasterFile, removeRecycledLockFiles } from './postmaster.ts';
import { mayBePostgresIn } from './process.ts';

/** A PostgreSQL server that this process is responsible for. */
export interface OwnedServer {
  readonly pid: number;
  /** Settles with the reason when the server is gone; never rejects. */
  readonly exited: Promise<string>;
}

/** All that it takes to start the server of a folder, again and again. */
export interface ServerPlan {
  readonly layout: Layout;
  readonly binaries: Binaries;
  readonly endpoint: Endpoint;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: LaunchLog;
}

const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '64MB',
  max_connections: '60',
  fsync: 'on',
  synchronous_commit: 'on',
  password_encryption: 'scram-sha-256',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_destination: 'stderr',
};

/** Recovery after a power cut may take its time; this only bounds a server that hangs. */
const READY_TIMEOUT_MS = 300_000;
const READY_POLL_MS = 10;
const SAY_SLOW_AFTER_MS = 3_000;

const ADOPTED_POLL_MS = 500;
const EXIT_POLL_MS = 20;
const FAST_STOP_MS = 10_000;
const IMMEDIATE_STOP_MS = 5_000;

/**
 * Starts the server and waits until it takes connections. Throws an `EmbeddedPostgresError` with
 * the last lines of PostgreSQL's log when it does not come up, or when `signal` is aborted.
 */
export async function startServer(plan: ServerPlan, signal?: AbortSignal): Promise<OwnedServer> {
  const { layout } = plan;
  removeRecycledLockFiles(layout.dataFolder);
  createSocketFolder(plan.endpoint, layout);
  const child = spawnServer(plan);
  const exited = whenExited(child);
  const pid = child.pid;
  if (pid === undefined) throw startFailure(layout, await exited);
  const server = own(layout, pid, exited);
  let reason: string | undefined;
  void exited.then((text) => {
    reason = text;
  });
  const startedAt = Date.now();
  let hasSaidSlow = false;
  while (reason === undefined) {
    const file = readPostmasterFile(layout.dataFolder);
    if (file?.pid === pid && file.status === 'ready') return server;
    const elapsedMs = Date.now() - startedAt;
    if (signal?.aborted === true || elapsedMs > READY_TIMEOUT_MS) {
      await stopServer(plan, server);
      throw startFailure(layout, signal?.aborted === true ? 'stopped' : 'not ready in time');
    }
    if (elapsedMs > SAY_SLOW_AFTER_MS && !hasSaidSlow) {
      hasSaidSlow = true;
      plan.log.info('Waiting for PostgreSQL, which recovers after it was not stopped cleanly');
    }
    await delay(READY_POLL_MS);
  }
  throw startFailure(layout, reason);
}

/** Takes responsibility for a server that an earlier Burgee left running. */
export function adoptServer(layout: Layout, pid: number): OwnedServer {
  return own(layout, pid, whenGone(layout, pid));
}

/**
 * Stops the server: disconnects its clients and saves (10 s), then aborts it, then kills it. A
 * process that merely has the id of a server that is gone is left alone.
 */
export async function stopServer(plan: ServerPlan, server: OwnedServer): Promise<void> {
  await endServer(plan, server);
  removeSocketFolder(plan.endpoint, plan.layout);
}

async function endServer({ layout, binaries }: ServerPlan, server: OwnedServer): Promise<void> {
  if (process.platform === 'win32') {
    // There are no signals to send there; pg_ctl has its own way.
    spawnSync(binaries.pgCtl, ['stop', '-m', 'fast', '-w', '-D', layout.dataFolder], {
      windowsHide: true,
    });
  } else {
    if (await endsAfter(layout, server, 'SIGINT', FAST_STOP_MS)) return;
    if (await endsAfter(layout, server, 'SIGQUIT', IMMEDIATE_STOP_MS)) return;
  }
  await endsAfter(layout, server, 'SIGKILL', IMMEDIATE_STOP_MS);
}

function spawnServer({ layout, binaries, endpoint, settings }: ServerPlan): ChildProcess {
  const all = { ...DEFAULT_SETTINGS, ...settings, ...listenSettings(endpoint) };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openLogFile(layout.logFile);
  try {
    const child = spawn(binaries.postgres, ['-D', layout.dataFolder, ...options], {
      ...runAs(layout.account),
      cwd: layout.base,
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', log, log],
      // A session of its own: Ctrl-C reaches Burgee only, which drains before it stops PostgreSQL.
      detached: true,
      windowsHide: true,
    });
    child.unref();
    return child;
  } finally {
    closeLogFile(log);
  }
}

function own(layout: Layout, pid: number, exited: Promise<string>): OwnedServer {
  const callOff = onProcessExit(() => send(layout, pid, 'SIGINT'));
  void exited.then(callOff);
  return { pid, exited };
}

function whenExited(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `exit status ${code}` : `signal ${signal}`),
    );
  });
}

/** The exit of a process that is no child of ours can only be polled for. */
async function whenGone(layout: Layout, pid: number): Promise<string> {
  while (mayBePostgresIn(layout.dataFolder, pid)) {
    await delay(ADOPTED_POLL_MS, undefined, { ref: false });
  }
  return 'its process is gone';
}

async function endsAfter(
  layout: Layout,
  server: OwnedServer,
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<boolean> {
  send(layout, server.pid, signal);
  const deadline = Date.now() + timeoutMs;
  while (mayBePostgresIn(layout.dataFolder, server.pid)) {
    if (Date.now() > deadline) return false;
    await delay(EXIT_POLL_MS);
  }
  return true;
}

function send(layout: Layout, pid: number, signal: NodeJS.Signals): void {
  if (!mayBePostgresIn(layout.dataFolder, pid)) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}

function startFailure(layout: Layout, reason: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL did not start on ${layout.dataFolder} (${reason}). The end of ${layout.logFile}:\n` +
      readLogTail(layout.logFile),
  );
}
