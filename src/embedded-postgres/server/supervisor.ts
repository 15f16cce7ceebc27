import { setTimeout as delay } from 'node:timers/promises';
import type { LaunchLog } from '../install/options.ts';
import { boundLogFile } from './log-file.ts';
import { type OwnedServer, type ServerPlan, startServer, stopServer } from './server.ts';

/** Keeps one server running until `stop`. */
export interface Supervisor {
  stop(): Promise<void>;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;

/** A server that lived this long ends a series of failures. */
const HEALTHY_AFTER_MS = 60_000;

const LOG_CHECK_MS = 60_000;

/**
 * Watches the server and starts it again, at the same place, whenever it ends without being asked
 * to. Between failures it waits longer and longer, up to 10 s, and it never gives up: the database
 * may come back when a full disk is cleared.
 */
export function supervise(plan: ServerPlan, first: OwnedServer, log: LaunchLog): Supervisor {
  const stopping = new AbortController();
  let current = first;
  let restarting: Promise<void> = Promise.resolve();

  async function watch(): Promise<void> {
    let failures = 0;
    for (;;) {
      const startedAt = Date.now();
      const reason = await current.exited;
      if (stopping.signal.aborted) return;
      log.error(`PostgreSQL stopped by itself (${reason}); starting it again`);
      failures = Date.now() - startedAt > HEALTHY_AFTER_MS ? 0 : failures;
      restarting = restart();
      await restarting;
      if (stopping.signal.aborted) return;
    }

    async function restart(): Promise<void> {
      for (; !stopping.signal.aborted; failures += 1) {
        await pause(failures, stopping.signal);
        const server = await tryStart(plan, stopping.signal, log);
        if (server === undefined) continue;
        current = server;
        failures += 1;
        return;
      }
    }
  }

  void watch();
  const logCheck = setInterval(() => checkLog(plan, log), LOG_CHECK_MS).unref();

  return {
    async stop() {
      stopping.abort();
      clearInterval(logCheck);
      // A restart under way sees the abort; it may also have succeeded just before.
      await restarting;
      await stopServer(plan, current);
    },
  };
}

async function tryStart(
  plan: ServerPlan,
  signal: AbortSignal,
  log: LaunchLog,
): Promise<OwnedServer | undefined> {
  if (signal.aborted) return undefined;
  try {
    const server = await startServer(plan, signal);
    log.info('PostgreSQL is running again');
    return server;
  } catch (error) {
    if (!signal.aborted) log.error('PostgreSQL could not be started; trying again', error);
    return undefined;
  }
}

async function pause(failures: number, signal: AbortSignal): Promise<void> {
  if (failures === 0) return;
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), MAX_DELAY_MS);
  await delay(delayMs, undefined, { signal, ref: false }).catch(() => {});
}

function checkLog(plan: ServerPlan, log: LaunchLog): void {
  try {
    boundLogFile(plan.layout.logFile);
  } catch (error) {
    log.warn(`PostgreSQL's log could not be shortened: ${String(error)}`);
  }
}
