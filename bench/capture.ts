import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEYS } from './burgee.ts';
import { compare, type MeasuredRequest } from './http.ts';
import { type MeasuredProcess, startProcess } from './processes.ts';

const EVENTS_PER_BATCH = 100;
/** One event in so many changes its person; the others only name it. */
const CHANGE_EVERY = 10;
const PERSONS = 10_000;
const CONNECTIONS_FOR_BATCHES = 8;
const BATCHES_PER_ROUND = 400;
const ROUNDS = 4;

const CONNECTIONS_FOR_SINGLES = 50;

const EVENTS_PER_SECOND = 15_000;
const RATIO_OF_SINGLES = 0.2;

/**
 * Measures what capture stores durably: batches by the events of a second, single events beside a
 * bare server. Burgee, its PostgreSQL and the load share all cores. Prints, and returns what is
 * below its target.
 */
export async function benchCapture(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'burgee-bench-'));
  const burgee = await startProcess(
    'dist/src/process/main.js',
    { ...KEYS, BURGEE_DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn', DATABASE_URL: '' },
    '/_readiness',
    false,
  );
  try {
    return [...(await benchBatches(burgee)), ...(await benchSingles(burgee, folder))];
  } finally {
    await burgee.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function benchBatches(burgee: MeasuredProcess): Promise<string[]> {
  const rates: number[] = [];
  // The first round fills caches and the table of persons; it does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bodies = Array.from({ length: BATCHES_PER_ROUND }, createBatch);
    const seconds = await sendAll(burgee, bodies);
    if (round > 0) rates.push((BATCHES_PER_ROUND * EVENTS_PER_BATCH) / seconds);
  }
  const sorted = rates.toSorted((a, b) => a - b);
  const rate = sorted[Math.floor(sorted.length / 2)] ?? 0;
  console.log(
    `\nCapture in batches of ${EVENTS_PER_BATCH}: ${Math.round(rate)} durable events/s ` +
      `(rounds: ${rates.map((each) => Math.round(each)).join(', ')})`,
  );
  return rate < EVENTS_PER_SECOND ? [`capture ${Math.round(rate)} events/s`] : [];
}

async function benchSingles(burgee: MeasuredProcess, folder: string): Promise<string[]> {
  const replyFile = join(folder, 'reply');
  await writeFile(replyFile, JSON.stringify({ status: 'Ok' }));
  const bare = await startProcess(
    'bench/bare-server.ts',
    { BARE_REPLY_FILE: replyFile, BARE_STATUS: '200' },
    '/_readiness',
    false,
  );
  try {
    const measured: MeasuredRequest = {
      path: '/i/v0/e/',
      status: 200,
      connections: CONNECTIONS_FOR_SINGLES,
      options: {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          api_key: KEYS.BURGEE_PROJECT_API_KEY,
          ...createEvent(1),
          uuid: undefined,
        }),
      },
    };
    const { burgee: ours, bare: theirs, ratio } = await compare(burgee, bare, measured);
    console.log(
      `Single events at ${CONNECTIONS_FOR_SINGLES} connections: burgee ` +
        `${Math.round(ours.requestsPerSecond)}/s (p50 ${ours.p50Ms} ms, p99 ${ours.p99Ms} ms)  ` +
        `bare ${Math.round(theirs.requestsPerSecond)}/s  ratio ${ratio.toFixed(2)}`,
    );
    return ratio < RATIO_OF_SINGLES ? [`single events: ratio ${ratio.toFixed(2)}`] : [];
  } finally {
    await bare.stop();
  }
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
