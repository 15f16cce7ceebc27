import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionParts, createDb, type Db } from '../src/domain/database/db.ts';
import { startEmbeddedPostgres } from '../src/embedded-postgres/embedded-postgres.ts';
import { OWN_BUILD } from './build.ts';
import { type MeasuredProcess, startBuild } from './processes.ts';

/**
 * Measures what counting the use of flags costs: reading a usage dashboard over a million calls,
 * and capture with and without calls of flags. On demand: `npm run build && npx tsx bench/usage.ts`.
 */

const KEYS = {
  BURGEE_PROJECT_API_KEY: 'phc_benchmarkbenchmarkbenchmark',
  BURGEE_PERSONAL_API_KEY: 'phx_benchmarkbenchmarkbenchmark',
};
const CALLS = 1_000_000;
const USERS = 500_000;
const VARIANTS = ['control', 'blue', 'green'];
const READS = 20;

const PERSONS = 20_000;
const FLAGS = 20;
const BATCH = 100;
const BATCHES = 400;
const CONNECTIONS = 10;
const ROUNDS = 3;

/** Events made so far, so that each of them is another one. */
let sent = 0;

const folder = await mkdtemp(join(tmpdir(), 'burgee-bench-'));
const postgres = await startEmbeddedPostgres({
  dataDir: join(folder, 'data'),
  log: { info() {}, warn: console.warn, error: console.error },
  mode: 'serve',
});
const burgee = await startBuild(
  OWN_BUILD,
  { ...KEYS, DATABASE_URL: urlOf(postgres.connection) },
  'first core',
);
const db = createDb(postgres.connection);
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
try {
  await measureDashboard(burgee, db);
  await measureCapture();
} finally {
  agent.destroy();
  await db.destroy();
  await burgee.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

interface Dashboard {
  readonly tiles: readonly {
    readonly insight: { readonly result: readonly { readonly count: number }[] };
  }[];
}

async function measureDashboard({ url }: MeasuredProcess, into: Db): Promise<void> {
  const headers = {
    authorization: `Bearer ${KEYS.BURGEE_PERSONAL_API_KEY}`,
    'content-type': 'application/json',
  };
  const created = await fetch(`${url}/api/projects/1/feature_flags/`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ key: 'million' }),
  });
  const { usage_dashboard: dashboard }: { usage_dashboard: number } = JSON.parse(
    await created.text(),
  );
  await storeCalls(into);
  const times: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const startedAt = performance.now();
    const reply = await fetch(`${url}/api/projects/1/dashboards/${dashboard}/`, { headers });
    const { tiles }: Dashboard = JSON.parse(await reply.text());
    times.push(performance.now() - startedAt);
    const shown = tiles[0]?.insight.result.reduce((sum, { count }) => sum + count, 0);
    if (shown !== CALLS) throw new Error(`The dashboard shows ${shown} calls.`);
  }
  const sorted = times.toSorted((a, b) => a - b);
  console.log(
    `Dashboard over ${CALLS} calls by ${USERS} users: first ${times[0]?.toFixed(1)} ms, ` +
      `p50 ${sorted[READS / 2]?.toFixed(1)} ms, worst ${sorted.at(-1)?.toFixed(1)} ms`,
  );
}

/** A million calls of the last thirty-one days, with the counts that capture would have made. */
async function storeCalls(into: Db): Promise<void> {
  await into.raw(
    `INSERT INTO flag_usage_series (project_id, event, flag_key, variant)
     SELECT 1, '$feature_flag_called', 'million', variant FROM unnest(?::text[]) AS variant`,
    [VARIANTS],
  );
  await into.raw(
    `WITH series AS (
       SELECT array_agg(id) AS ids FROM flag_usage_series WHERE flag_key = 'million'
     ), calls AS MATERIALIZED (
       SELECT ids[1 + user_id % ?] AS series_id, current_date - (number % 31) AS day, user_id
       FROM series, (
         SELECT number, 1 + floor(random() * ?)::bigint AS user_id
         FROM generate_series(1, ?) AS number
       ) AS drawn
     ), users AS MATERIALIZED (
       SELECT DISTINCT user_id, series_id, day FROM calls
     ), stored AS (
       INSERT INTO flag_usage_users (user_id, series_id, day) SELECT * FROM users
     ), lasts AS (
       SELECT series_id, max(day) AS day FROM users GROUP BY user_id, series_id
     )
     INSERT INTO flag_usage_days (series_id, day, calls, users, last_seen_users)
     SELECT series_id, day, sum(calls), sum(users), sum(last_seen_users)
     FROM (
       SELECT series_id, day, 1 AS calls, 0 AS users, 0 AS last_seen_users FROM calls
       UNION ALL SELECT series_id, day, 0, 1, 0 FROM users
       UNION ALL SELECT series_id, day, 0, 0, 1 FROM lasts
     ) AS counted
     GROUP BY series_id, day`,
    [VARIANTS.length, USERS, CALLS],
  );
}

async function measureCapture(): Promise<void> {
  await capture(batchesWith(0));
  const shares = [0, 0.1, 1];
  const rates = new Map<number, number[]>(shares.map((share) => [share, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const share of shares) rates.get(share)?.push(await capture(batchesWith(share)));
  }
  for (const [share, measured] of rates) {
    const median = measured.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    console.log(
      `Capture, ${String(share * 100).padStart(3)} % calls of flags: ` +
        `${Math.round(median)} events/s (${measured.map(Math.round).join(', ')})`,
    );
  }
}

/** Requests of a hundred events of known persons, some of them first calls of one of the flags. */
function batchesWith(shareOfCalls: number): string[] {
  return Array.from({ length: BATCHES }, () => {
    const batch = Array.from({ length: BATCH }, (_, index) => {
      sent += 1;
      const isCall = index < shareOfCalls * BATCH;
      const properties = isCall
        ? {
            $feature_flag: `flag-${Math.floor(sent / PERSONS) % FLAGS}`,
            $feature_flag_response: VARIANTS[sent % VARIANTS.length],
            $lib: 'posthog-node',
          }
        : { path: '/checkout', total: sent, $lib: 'posthog-node' };
      const event = isCall ? '$feature_flag_called' : 'viewed';
      return { event, distinct_id: `person-${sent % PERSONS}`, properties };
    });
    return JSON.stringify({ api_key: KEYS.BURGEE_PROJECT_API_KEY, batch });
  });
}

/** Sends all bodies over a few connections; returns the events per second. */
async function capture(bodies: readonly string[]): Promise<number> {
  const waiting = [...bodies];
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) await post(body);
    }),
  );
  return (bodies.length * BATCH * 1_000) / (performance.now() - startedAt);
}

function post(body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${burgee.url}/batch/`, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      incoming.resume();
      incoming.on('end', () => {
        if (incoming.statusCode === 200) resolve();
        else reject(new Error(`A batch was answered with ${incoming.statusCode}.`));
      });
    });
    outgoing.end(body);
  });
}

function urlOf({ host, port, user, password, database }: ConnectionParts): string {
  const [name, secret] = [user, password].map(encodeURIComponent);
  return `postgres://${name}:${secret}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}
