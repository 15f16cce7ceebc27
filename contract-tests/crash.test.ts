import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../test/temporary-folder.ts';
import { type BurgeeProcess, endBurgeeProcesses, startBurgeeProcess } from './burgee-process.ts';
import { anonymousId, CALLED_FLAG, type CrashLoad, startCrashLoad, userId } from './crash-load.ts';
import { findFreePort } from './free-port.ts';
import { createHttpClient, type HttpClient } from './http.ts';
import { pick, pickList, pickNumber, pickText } from './read.ts';

/** How often each of the two is killed; `npm run test:crash` does it a hundred times. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);
const ROUND_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 90_000;
/** Between two kills, so many batches at least and at most. */
const BATCHES_MIN = 20;
const BATCHES_SPREAD = 150;
const PAGE_SIZE = 1_000;

const KEYS = {
  BURGEE_PROJECT_API_KEY: 'phc_crashTestsProjectApiKey0000000000000001',
  BURGEE_PERSONAL_API_KEY: 'phx_crashTestsPersonalApiKey0000000000000001',
};

const folder = createTemporaryFolder();
const dataDir = join(folder.path, 'data');

let port = 0;
let burgee: BurgeeProcess;
let client: HttpClient;
let load: CrashLoad;
let dashboardId = 0;

async function start(): Promise<void> {
  burgee = startBurgeeProcess({ ...KEYS, PORT: String(port), BURGEE_DATA_DIR: dataDir });
  await burgee.ready;
}

/** The process of PostgreSQL that all others of it belong to. */
function postgresPid(): number {
  const found = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).find((name) =>
    name.endsWith('postmaster.pid'),
  );
  if (found === undefined) throw new Error('PostgreSQL does not run.');
  return Number(readFileSync(join(dataDir, found), 'utf8').split('\n')[0]);
}

function someBatches(): number {
  return BATCHES_MIN + Math.floor(Math.random() * BATCHES_SPREAD);
}

/** All that a paged list holds. */
async function readAll(noun: string): Promise<unknown[]> {
  const key = KEYS.BURGEE_PERSONAL_API_KEY;
  const found: unknown[] = [];
  let path: string | null = `/api/projects/1/${noun}/?limit=${PAGE_SIZE}`;
  while (path !== null) {
    const { body, status } = await client.send('GET', path, { key });
    expect(status).toBe(200);
    found.push(...pickList(body, 'results'));
    const next: unknown = pick(body, 'next');
    const url = typeof next === 'string' ? new URL(next) : null;
    path = url === null ? null : url.pathname + url.search;
  }
  return found;
}

/** The person of a batch that has what both of its persons were given. */
function wholePerson(batch: number) {
  return {
    distinct_ids: [anonymousId(batch), userId(batch)],
    properties: { anonymous: batch, identified: batch },
    is_identified: true,
  };
}

/** Calls and different users of the flag that every batch calls twice. */
async function readCalls(): Promise<unknown[]> {
  const key = KEYS.BURGEE_PERSONAL_API_KEY;
  const { body } = await client.send('GET', `/api/projects/1/dashboards/${dashboardId}/`, { key });
  return [
    pick(body, 'tiles', 0, 'insight', 'result', 0, 'count'),
    pick(body, 'tiles', 1, 'insight', 'result', 0, 'aggregated_value'),
  ];
}

beforeAll(async () => {
  port = await findFreePort();
  await start();
  client = createHttpClient(`http://127.0.0.1:${port}`);
  const created = await client.send('POST', '/api/projects/1/feature_flags/', {
    key: KEYS.BURGEE_PERSONAL_API_KEY,
    body: { key: CALLED_FLAG, _should_create_usage_dashboard: true },
  });
  expect(created.status, created.text).toBe(201);
  dashboardId = pickNumber(created.body, 'usage_dashboard');
  load = startCrashLoad(`http://127.0.0.1:${port}`, KEYS.BURGEE_PROJECT_API_KEY);
}, START_TIMEOUT_MS);

afterAll(async () => {
  client.close();
  await endBurgeeProcesses();
  folder.remove();
}, START_TIMEOUT_MS);

describe('under load', () => {
  it(
    'Burgee is killed and started again',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await load.acknowledge(someBatches());
        burgee.kill('SIGKILL');
        await burgee.ended;
        await start();
      }
      await load.acknowledge(BATCHES_MIN);
    },
    ROUNDS * ROUND_TIMEOUT_MS,
  );

  it(
    'PostgreSQL is killed, and Burgee starts it again',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await load.acknowledge(someBatches());
        process.kill(postgresPid(), 'SIGKILL');
      }
      await load.acknowledge(BATCHES_MIN);
    },
    ROUNDS * ROUND_TIMEOUT_MS,
  );

  it(
    'every acknowledged event is there once and counted once, and every person is whole',
    async () => {
      await load.stop();
      const uuids = (await readAll('events')).map((event) => pickText(event, 'id'));
      const stored = new Set(uuids);
      const lost = [...load.acknowledged].filter((uuid) => !stored.has(uuid));
      console.log(
        `sent ${load.sent.size}, acknowledged ${load.acknowledged.size}, ` +
          `stored ${uuids.length}, duplicates ${uuids.length - stored.size}, lost ${lost.length}`,
      );
      expect(lost).toEqual([]);
      expect(uuids).toHaveLength(stored.size);
      expect(stored.size).toBe(load.sent.size);
      const persons = await readAll('persons');
      const whole = load.batches.toSorted((a, b) => a - b).map(wholePerson);
      expect(persons).toHaveLength(whole.length);
      const byBatch = new Map(
        persons.map((person) => [pick(person, 'properties', 'identified'), person]),
      );
      for (const expected of whole) {
        expect(byBatch.get(expected.properties.identified)).toMatchObject(expected);
      }
      expect(await readCalls()).toEqual([2 * whole.length, whole.length]);
    },
    ROUND_TIMEOUT_MS + ROUNDS * 2_000,
  );
});
