import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OWN_BUILD } from './build.ts';
import { KEYS } from './burgee.ts';
import { type MeasuredProcess, startBuild } from './processes.ts';
import { findPostgres, readTimeWithChildren, readWholeTime } from './processor-time.ts';
import { median } from './statistics.ts';

const EVENTS_PER_BATCH = 100;
/** One event in so many changes its person; the others only name it. */
const CHANGE_EVERY = 10;
const PERSONS = 10_000;
const CONNECTIONS_FOR_BATCHES = 8;
const BATCHES_PER_ROUND = 400;
const ROUNDS = 4;

const EVENTS_PER_SECOND = 15_000;

/**
 * Measures how many events of a second capture stores durably in batches, and what each costs. Burgee,
 * its PostgreSQL and the load share all cores. Prints, and returns what is below its target.
 */
export async function benchCapture(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'burgee-bench-'));
  const burgee = await startBuild(
    OWN_BUILD,
    { ...KEYS, BURGEE_DATA_DIR: join(folder, 'data'), DATABASE_URL: '' },
    'free',
  );
  try {
    return await benchBatches(burgee);
  } finally {
    await burgee.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function benchBatches(burgee: MeasuredProcess): Promise<string[]> {
  const postgres = findPostgres(burgee.pid);
  const rates: number[] = [];
  const costs: number[] = [];
  const costsOfPostgres: number[] = [];
  const events = BATCHES_PER_ROUND * EVENTS_PER_BATCH;
  // The first round fills caches and the table of persons; it does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bodies = Array.from({ length: BATCHES_PER_ROUND }, createBatch);
    const before = readTimes(burgee.pid, postgres);
    const seconds = await sendAll(burgee, bodies);
    const after = readTimes(burgee.pid, postgres);
    if (round === 0) continue;
    rates.push(events / seconds);
    costs.push((after.burgee - before.burgee) / events);
    costsOfPostgres.push((after.postgres - before.postgres) / events);
  }
  const rate = median(rates);
  console.log(
    `\nCapture in batches of ${EVENTS_PER_BATCH}: ${Math.round(rate)} durable events/s ` +
      `(rounds: ${rates.map((each) => Math.round(each)).join(', ')}); an event costs ` +
      `${median(costs).toFixed(1)} us of Burgee's CPU and ` +
      `${median(costsOfPostgres).toFixed(1)} us of PostgreSQL's`,
  );
  return rate < EVENTS_PER_SECOND ? [`capture ${Math.round(rate)} events/s`] : [];
}

/** Processor time until now, in microseconds; NaN where the system does not tell. */
function readTimes(burgee: number, postgres: number | null) {
  return {
    burgee: readWholeTime(burgee) ?? Number.NaN,
    postgres: (postgres === null ? null : readTimeWithChildren(postgres)) ?? Number.NaN,
  };
}

/** Sends every body once, over a few connections; returns how many seconds it took. */
async function sendAll(burgee: MeasuredProcess, bodies: readonly Buffer[]): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_FOR_BATCHES });
  const waiting = [...bodies];
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) {
      const status = await send(agent, `${burgee.url}/batch/`, body);
      if (status !== 200) throw new Error(`A batch was answered with ${status}.`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS_FOR_BATCHES }, work));
  agent.destroy();
  return (performance.now() - startedAt) / 1_000;
}

function send(agent: Agent, url: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const outgoing = request(url, { agent, method: 'POST', headers }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function createBatch(): Buffer {
  const batch = Array.from({ length: EVENTS_PER_BATCH }, (_, index) => createEvent(index));
  return Buffer.from(JSON.stringify({ api_key: KEYS.BURGEE_PROJECT_API_KEY, batch }));
}

function createEvent(index: number) {
  const person = Math.floor(Math.random() * PERSONS);
  return {
    event: 'order placed',
    uuid: randomUUID(),
    distinct_id: `user-${person}`,
    timestamp: new Date().toISOString(),
    properties: {
      $lib: 'posthog-node',
      $lib_version: '5.70.0',
      total: 12.5,
      currency: 'EUR',
      '$feature/new-checkout': true,
      ...(index % CHANGE_EVERY === 0 ? { $set: { orders: Math.random() } } : {}),
    },
  };
}
