import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { type MeasuredProcess, startProcess } from './processes.ts';

/** What one server did under load. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Burgee beside the bare server that sends the same bytes. */
export interface HttpResult {
  readonly flags: number;
  readonly replyBytes: number;
  readonly burgee: Load;
  readonly bare: Load;
  /** Requests per second of Burgee divided by those of the bare server. */
  readonly ratio: number;
  readonly memoryMb: number | null;
}

const CONNECTIONS = 10;
const WARM_UP_SECONDS = 2;
const ROUND_SECONDS = 4;
const ROUNDS = 3;

const KEYS = {
  BURGEE_PROJECT_API_KEY: 'phc_benchmarkbenchmarkbenchmark',
  BURGEE_PERSONAL_API_KEY: 'phx_benchmarkbenchmarkbenchmark',
};

/** Measures `POST /flags` with so many flags: one string condition and a 50 % rollout each. */
export async function benchHttp(flags: number): Promise<HttpResult> {
  const folder = await mkdtemp(join(tmpdir(), 'burgee-bench-'));
  const burgee = await startProcess(
    'dist/src/main.js',
    { ...KEYS, BURGEE_DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn', DATABASE_URL: '' },
    '/_readiness',
  );
  try {
    const idleMemoryMb = await burgee.memoryMb();
    await createFlags(burgee, flags);
    const reply = await (await fetch(`${burgee.url}/flags?v=2`, requestOptions())).text();
    const replyFile = join(folder, 'reply.json');
    await writeFile(replyFile, reply);
    const bare = await startProcess('bench/bare-server.ts', { BARE_REPLY_FILE: replyFile }, '/');
    try {
      const measured = await compare(burgee, bare);
      return {
        flags,
        replyBytes: Buffer.byteLength(reply),
        ...measured,
        memoryMb: idleMemoryMb,
      };
    } finally {
      await bare.stop();
    }
  } finally {
    await burgee.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rounds take turns, so that a busy moment of the machine hits both; medians count. */
async function compare(
  burgee: MeasuredProcess,
  bare: MeasuredProcess,
): Promise<Pick<HttpResult, 'burgee' | 'bare' | 'ratio'>> {
  await load(burgee, WARM_UP_SECONDS);
  await load(bare, WARM_UP_SECONDS);
  const burgeeRounds: Load[] = [];
  const bareRounds: Load[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    burgeeRounds.push(await load(burgee, ROUND_SECONDS));
    bareRounds.push(await load(bare, ROUND_SECONDS));
  }
  const ours = median(burgeeRounds);
  const theirs = median(bareRounds);
  return { burgee: ours, bare: theirs, ratio: ours.requestsPerSecond / theirs.requestsPerSecond };
}

async function load(server: MeasuredProcess, seconds: number): Promise<Load> {
  const result = await autocannon({
    url: `${server.url}/flags?v=2`,
    ...requestOptions(),
    connections: CONNECTIONS,
    duration: seconds,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} bad replies and ${result.errors} errors under load.`);
  }
  return {
    requestsPerSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}

function median(rounds: readonly Load[]): Load {
  const sorted = rounds.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('Nothing was measured.');
  return middle;
}

async function createFlags(burgee: MeasuredProcess, flags: number): Promise<void> {
  for (let index = 0; index < flags; index += 1) {
    const reply = await fetch(`${burgee.url}/api/projects/1/feature_flags/`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEYS.BURGEE_PERSONAL_API_KEY}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        key: `bench-flag-${index}`,
        filters: {
          groups: [
            {
              properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }],
              rollout_percentage: 50,
            },
          ],
        },
      }),
    });
    if (reply.status !== 201) throw new Error(`A flag was not created: ${await reply.text()}`);
  }
}

function requestOptions() {
  return {
    method: 'POST' as const,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      token: KEYS.BURGEE_PROJECT_API_KEY,
      distinct_id: 'user-42',
      person_properties: { plan: 'pro', email: 'ann@example.com' },
    }),
  };
}
