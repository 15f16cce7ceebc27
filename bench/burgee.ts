import { setTimeout as delay } from 'node:timers/promises';
import { OWN_BUILD } from './build.ts';
import { type BenchDatabase, type BenchServer, insertFlags } from './database.ts';
import { type MeasuredProcess, startBuild } from './processes.ts';

/** The keys of every Burgee that is measured. */
export const KEYS = {
  BURGEE_PROJECT_API_KEY: 'phc_benchmarkbenchmarkbenchmark',
  BURGEE_PERSONAL_API_KEY: 'phx_benchmarkbenchmarkbenchmark',
};

/** A service that is ready has still to give back what its start used. */
const IDLE_AFTER_MS = 1_000;

/** A Burgee with flags, built and in production mode. */
export interface MeasuredBurgee extends MeasuredProcess {
  /** Its memory before there were flags, in MB. */
  readonly idleMemoryMb: number | null;
  /** The flag that was added last, and the only one that is on for everybody. */
  readonly lastFlag: { readonly id: number; readonly key: string };
  /** Sends a management request; throws unless it went well. */
  manage(method: string, path: string, body: object): Promise<unknown>;
}

/** Starts a Burgee whose project has so many flags. */
export async function startBurgee(server: BenchServer, flags: number): Promise<MeasuredBurgee> {
  const database = await server.createDatabase();
  try {
    const started = await startBuild(
      OWN_BUILD,
      { ...KEYS, DATABASE_URL: database.url, BURGEE_MAX_FLAGS_PER_PROJECT: '20000' },
      'first core',
    );
    await delay(IDLE_AFTER_MS);
    const idleMemoryMb = started.memoryMb();
    try {
      const lastFlag = await addFlags(started, database, flags);
      const manage: MeasuredBurgee['manage'] = (...request) => send(started, ...request);
      return { ...started, idleMemoryMb, lastFlag, manage, stop: () => stop(started, database) };
    } catch (error) {
      await started.stop();
      throw error;
    }
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function stop(started: MeasuredProcess, database: BenchDatabase): Promise<void> {
  await started.stop();
  await database.close();
}

/** The last one comes through the API, by which the service learns of the others. */
async function addFlags(burgee: MeasuredProcess, database: BenchDatabase, flags: number) {
  await insertFlags(database, flags - 1);
  const key = `bench-flag-${flags}`;
  const created = await send(burgee, 'POST', '', { key });
  if (typeof created !== 'object' || created === null || !('id' in created)) {
    throw new Error('A flag was not created.');
  }
  return { id: Number(created.id), key };
}

async function send(
  { url }: MeasuredProcess,
  method: string,
  path: string,
  body: object,
): Promise<unknown> {
  const reply = await fetch(`${url}/api/projects/1/feature_flags/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${KEYS.BURGEE_PERSONAL_API_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${method} ${path}: ${await reply.text()}`);
  return reply.json();
}
