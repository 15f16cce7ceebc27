import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ConnectionParts } from '../src/domain/database/db.ts';
import type { LaunchMode } from '../src/embedded-postgres/install/options.ts';

/** One thing that a Burgee stand-in said. */
export interface SpawnedEvent {
  readonly event: 'log' | 'ready' | 'failed' | 'stopped';
  readonly message?: string;
  readonly name?: string;
  readonly connection?: ConnectionParts;
  readonly dataFolder?: string;
}

/** A process that runs the launcher, to be killed. */
export interface SpawnedBurgee {
  readonly pid: number;
  readonly events: readonly SpawnedEvent[];
  /** Settles when the start ended; returns the `ready` or `failed` event. */
  readonly started: Promise<SpawnedEvent>;
  /** Sends the signal and waits until the process is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
}

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const FIXTURE = fileURLToPath(new URL('./fixtures/embedded-burgee.ts', import.meta.url));

const running = new Set<ChildProcess>();

/**
 * Starts a Burgee stand-in on a data folder, as another user when `user` names one, with a `node`
 * that this user can reach.
 */
export function spawnBurgee(
  dataDir: string,
  mode: LaunchMode,
  user: { uid?: number; gid?: number } = {},
  node: string = process.execPath,
): SpawnedBurgee {
  const child = spawn(node, ['--import', 'tsx', FIXTURE, dataDir, mode], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    ...(user.gid === undefined ? {} : { gid: user.gid }),
  });
  running.add(child);
  const exited = once(child, 'close').then(() => running.delete(child));
  const events: SpawnedEvent[] = [];
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const started = new Promise<SpawnedEvent>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event: SpawnedEvent = JSON.parse(line);
      events.push(event);
      if (event.event === 'ready' || event.event === 'failed') resolve(event);
    });
    void exited.then(() => reject(new Error(`The stand-in ended early: ${errors}`)));
  });
  return {
    pid: child.pid ?? 0,
    events,
    started,
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}

/** Kills the stand-ins that a failed test left running. */
export function killSpawned(): void {
  for (const child of running) child.kill('SIGKILL');
}
