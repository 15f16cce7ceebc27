import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/app/config.ts';
import { openDatabase } from '../src/app/open-database.ts';
import type { Db } from '../src/domain/database/db.ts';
import { OWN_BUILD } from './build.ts';
import { type MeasuredProcess, startBuild } from './processes.ts';

/** How long one kind of management call took. */
export interface ManagementResult {
  readonly name: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly targetP50Ms: number;
}

const PERSONAL_API_KEY = 'phx_benchmarkbenchmarkbenchmark';
const PROJECT = '/api/projects/1/feature_flags/';
const WARM_UP_CALLS = 20;
const CALLS = 200;
const FLAGS_IN_LIST = 10_000;
const LIST_TARGET_MS = 30;
const WRITE_TARGET_MS = 15;

/** Measures management calls one after the other, with the embedded database. */
export async function benchManagement(): Promise<ManagementResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'burgee-bench-'));
  const env = { BURGEE_DATA_DIR: join(folder, 'data'), DATABASE_URL: '', LOG_LEVEL: 'warn' };
  const burgee = await startBuild(
    OWN_BUILD,
    { ...env, BURGEE_PERSONAL_API_KEY: PERSONAL_API_KEY },
    'free',
  );
  try {
    const results = [
      await measure('create a flag', WRITE_TARGET_MS, (index) =>
        call(burgee, 'POST', PROJECT, aFlag(`created-${index}`)),
      ),
      await measure('PATCH a flag', WRITE_TARGET_MS, (index) =>
        call(burgee, 'PATCH', `${PROJECT}1/`, { filters: aFlag('patched', index % 100).filters }),
      ),
    ];
    await seed(env);
    const page = `${PROJECT}?limit=100`;
    results.push(
      await measure(`list 100 of ${FLAGS_IN_LIST} flags`, LIST_TARGET_MS, () =>
        call(burgee, 'GET', page),
      ),
      await measure(`search among ${FLAGS_IN_LIST} flags`, LIST_TARGET_MS, () =>
        call(burgee, 'GET', `${page}&search=seeded 7`),
      ),
    );
    return results;
  } finally {
    await burgee.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function aFlag(key: string, rollout = 50) {
  return {
    key,
    filters: {
      groups: [
        {
          properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }],
          rollout_percentage: rollout,
        },
      ],
    },
  };
}

/** Fills the project up without a request for each flag: it is the list that is measured. */
async function seed(env: Readonly<Record<string, string>>): Promise<void> {
  const quiet = { info() {}, warn() {}, error() {} };
  const database = await openDatabase(readConfig(env), 'adopt-or-start', quiet);
  try {
    await fillUp(database.db);
  } finally {
    await database.close();
  }
}

async function fillUp(db: Db): Promise<void> {
  const [row] = await db('feature_flags').where({ deleted: false }).count({ flags: '*' });
  await db.raw(
    `INSERT INTO feature_flags (project_id, key, filters, tags, created_by, created_at)
     SELECT 1, 'seeded-' || number, ?, ARRAY['web'],
       (SELECT min(id) FROM users), now() - number * interval '1 minute'
     FROM generate_series(1, ?) AS number`,
    [JSON.stringify(aFlag('seeded').filters), FLAGS_IN_LIST - Number(row?.flags ?? 0)],
  );
  await db.raw('VACUUM ANALYZE feature_flags');
}

async function measure(
  name: string,
  targetP50Ms: number,
  send: (index: number) => Promise<void>,
): Promise<ManagementResult> {
  const times: number[] = [];
  for (let index = 0; index < WARM_UP_CALLS + CALLS; index += 1) {
    const startedAt = performance.now();
    await send(index);
    if (index >= WARM_UP_CALLS) times.push(performance.now() - startedAt);
  }
  times.sort((left, right) => left - right);
  const percentile = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { name, p50Ms: percentile(0.5), p99Ms: percentile(0.99), targetP50Ms };
}

async function call(
  burgee: MeasuredProcess,
  method: string,
  path: string,
  body?: object,
): Promise<void> {
  const reply = await fetch(`${burgee.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${PERSONAL_API_KEY}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
}

/** Prints the figures; returns a line for each that misses its target. */
export function reportManagement(results: readonly ManagementResult[]): string[] {
  console.log('\nManagement calls one after the other, embedded PostgreSQL');
  for (const { name, p50Ms, p99Ms } of results) {
    console.log(`  ${name.padEnd(30)} p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms`);
  }
  return results
    .filter(({ p50Ms, targetP50Ms }) => p50Ms >= targetP50Ms)
    .map(({ name, p50Ms, targetP50Ms }) => `${name}: p50 ${p50Ms.toFixed(1)} >= ${targetP50Ms} ms`);
}
