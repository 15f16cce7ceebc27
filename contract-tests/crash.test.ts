import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../test/temporary-folder.ts';
import { type BurgeeProcess, endBurgeeProcesses, startBurgeeProcess } from './burgee-process.ts';
import { anonymousId, type CrashLoad, startCrashLoad, userId } from './crash-load.ts';
import { createHttpClient, type HttpClient } from './http.ts';
import { pick, pickList, pickText } from './read.ts';

/** How often each of the two is killed; `npm run test:crash` does it a hundred times. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);
const ROUND_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 90_000;
/** Between two kills, so many batches at least and at most. */
const BATCHES_MIN = 20;
const BATCHES_SPREAD = 150;
const PERSONS_CHECKED = 400;
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

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

async function readStoredUuids(): Promise<string[]> {
  const key = KEYS.BURGEE_PERSONAL_API_KEY;
  const uuids: string[] = [];
  let path: string | null = `/api/projects/1/events/?limit=${PAGE_SIZE}`;
  while (path !== null) {
    const { body, status } = await client.send('GET', path, { key });
    expect(status).toBe(200);
    uuids.push(...pickList(body, 'results').map((event) => pickText(event, 'id')));
    const next: unknown = pick(body, 'next');
    const url = typeof next === 'string' ? new URL(next) : null;
    path = url === null ? null : url.pathname + url.search;
  }
  return uuids;
}

/** Whether the person of the id has what both ids of its batch were given. */
async function isWhole(distinctId: string): Promise<unknown> {
  const body = { token: KEYS.BURGEE_PROJECT_API_KEY, distinct_id: distinctId };
  const reply = await client.send('POST', '/flags?v=2', { body });
  return pick(reply.body, 'flags', 'whole', 'enabled');
}

beforeAll(async () => {
  port = await freePort();
  await start();
  client = createHttpClient(`http://127.0.0.1:${port}`);
  const isSet = (key: string) => ({ key, type: 'person', operator: 'is_set', value: 'is_set' });
  const created = await client.send('POST', '/api/projects/1/feature_flags/', {
    key: KEYS.BURGEE_PERSONAL_API_KEY,
    body: {
      key: 'whole',
      filters: {
        groups: [
          { properties: [isSet('anonymous'), isSet('identified')], rollout_percentage: 100 },
        ],
      },
    },
  });
  expect(created.status, created.text).toBe(201);
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
    'every acknowledged event is there once, and every person is whole',
    async () => {
      await load.stop();
      const uuids = await readStoredUuids();
      const stored = new Set(uuids);
      const lost = [...load.acknowledged].filter((uuid) => !stored.has(uuid));
      console.log(
        `sent ${load.sent.size}, acknowledged ${load.acknowledged.size}, ` +
          `stored ${uuids.length}, duplicates ${uuids.length - stored.size}, lost ${lost.length}`,
      );
      expect(lost).toEqual([]);
      expect(uuids).toHaveLength(stored.size);
      expect(stored.size).toBe(load.sent.size);
      for (const batch of load.batches.slice(-PERSONS_CHECKED)) {
        expect([await isWhole(anonymousId(batch)), await isWhole(userId(batch))]).toEqual([
          true,
          true,
        ]);
      }
    },
    ROUND_TIMEOUT_MS + ROUNDS * 2_000,
  );
});
