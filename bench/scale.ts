import { addDays, ensurePartitions } from '../src/domain/events/event-partitions.ts';
import { OWN_BUILD } from './build.ts';
import { KEYS } from './burgee.ts';
import { type BenchDatabase, type BenchServer, insertFlags, startBenchServer } from './database.ts';
import { fillDatabase } from './fill-database.ts';
import { type Latency, measureLatency } from './latency.ts';
import { type MeasuredProcess, startBuild } from './processes.ts';

/**
 * Measures whether stored data slows Burgee down: the latency of evaluation with stored persons and
 * of capture, beside 10 thousand, 100 thousand and a million persons with ten events each. On
 * demand: `npm run bench:scale`; with `-- --check` it fails when the largest is a third slower.
 */

const SIZES = [10_000, 100_000, 1_000_000];
const DAYS_OF_EVENTS = 10;
const FLAGS = 10;
const RATIO_MAX = 1.33;

const CONNECTIONS = 4;
const ROUND_SECONDS = 2;
/** The first round fills caches and does not count. */
const ROUNDS = 6;

const KINDS = ['evaluation', 'capture'] as const;
type Kind = (typeof KINDS)[number];
const PATHS: Record<Kind, string> = { evaluation: '/flags?v=2', capture: '/i/v0/e/' };

/** A Burgee with a database of its own, all on one server. */
interface Subject {
  readonly persons: number;
  readonly burgee: MeasuredProcess;
  readonly database: BenchDatabase;
  readonly rounds: Record<Kind, Latency[]>;
}

const server = await startBenchServer();
const subjects: Subject[] = [];
try {
  for (const persons of SIZES) subjects.push(await createSubject(server, persons));
  // Sizes take turns, so that a busy moment of the machine hits all of them.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of KINDS) {
      for (const { persons, burgee, rounds } of subjects) {
        const url = burgee.url + PATHS[kind];
        const create = () => createBody(kind, persons);
        const load = { url, createBody: create, connections: CONNECTIONS, seconds: ROUND_SECONDS };
        const latency = await measureLatency(load);
        if (round > 0) rounds[kind].push(latency);
      }
    }
  }
  const misses = KINDS.flatMap((kind) => report(kind));
  for (const miss of misses) console.log(`below target: ${miss}`);
  if (process.argv.includes('--check') && misses.length > 0) process.exitCode = 1;
} finally {
  for (const { burgee, database } of subjects) {
    await burgee.stop();
    await database.close();
  }
  await server.stop();
}

/** Burgee makes the tables and the project at its first start, and is measured after a second one. */
async function createSubject(on: BenchServer, persons: number): Promise<Subject> {
  const database = await on.createDatabase();
  const env = { ...KEYS, DATABASE_URL: database.url };
  const first = await startBuild(OWN_BUILD, env, 'free');
  await first.stop();
  await insertFlags(database, FLAGS);
  const startedAt = performance.now();
  await ensurePartitions(database.db, addDays(new Date(), 1 - DAYS_OF_EVENTS), DAYS_OF_EVENTS);
  await fillDatabase(database.db, persons, DAYS_OF_EVENTS);
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(
    `${persons} persons and ${persons * DAYS_OF_EVENTS} events stored in ${seconds.toFixed(0)} s`,
  );
  const burgee = await startBuild(OWN_BUILD, env, 'free');
  return { persons, burgee, database, rounds: { evaluation: [], capture: [] } };
}

/** A request about any of the persons. */
function createBody(kind: Kind, persons: number): string {
  const distinctId = `user-${1 + Math.floor(Math.random() * persons)}`;
  if (kind === 'evaluation') {
    return JSON.stringify({ token: KEYS.BURGEE_PROJECT_API_KEY, distinct_id: distinctId });
  }
  return JSON.stringify({
    api_key: KEYS.BURGEE_PROJECT_API_KEY,
    event: 'order placed',
    distinct_id: distinctId,
    properties: { total: 12.5, currency: 'EUR', $set: { orders: Math.random() } },
  });
}

/** Prints the medians of the rounds; returns what is too slow beside the smallest size. */
function report(kind: Kind): string[] {
  const misses: string[] = [];
  let smallest: Latency | null = null;
  console.log(`\nLatency of ${kind} at ${CONNECTIONS} connections`);
  for (const { persons, rounds } of subjects) {
    const own = {
      p50Ms: median(rounds[kind].map(({ p50Ms }) => p50Ms)),
      p99Ms: median(rounds[kind].map(({ p99Ms }) => p99Ms)),
    };
    smallest ??= own;
    const p50 = own.p50Ms / smallest.p50Ms;
    const p99 = own.p99Ms / smallest.p99Ms;
    console.log(
      `  ${String(persons).padStart(9)} persons  p50 ${own.p50Ms.toFixed(2)} ms ` +
        `(x ${p50.toFixed(2)})  p99 ${own.p99Ms.toFixed(2)} ms (x ${p99.toFixed(2)})`,
    );
    if (p50 > RATIO_MAX) misses.push(`${kind} with ${persons} persons: p50 x ${p50.toFixed(2)}`);
    if (p99 > RATIO_MAX) misses.push(`${kind} with ${persons} persons: p99 x ${p99.toFixed(2)}`);
  }
  return misses;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
