import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './build.ts';
import { KEYS } from './burgee.ts';
import type { BenchDatabase, BenchServer } from './database.ts';
import { fillProject } from './fill-project.ts';
import { type PreparedLoad, prepareLoad } from './http.ts';
import type { LoadGenerator } from './load.ts';
import { type MeasuredProcess, startBuild } from './processes.ts';
import { createRequests } from './requests.ts';
import { measureRound, type Round } from './round.ts';
import type { Scenario } from './scenarios.ts';
import { type Estimate, estimate, middleMean } from './statistics.ts';

/** Another build and this one under the same load. */
export interface Comparison {
  /** This build's processor time for a request divided by the other's. */
  readonly estimate: Estimate;
  /** The ratio of each pair of processes. */
  readonly ratios: readonly number[];
  /** The ratios of all rounds of all pairs. */
  readonly ratiosOfRounds: readonly number[];
  readonly oldRounds: readonly Round[];
  readonly newRounds: readonly Round[];
}

const WARM_UP_SECONDS = 3;
const ROUND_SECONDS = 1;
const ROUNDS_PER_PAIR = 10;
/** Two processes of one build differ too, by what the compiler made of them: so there are several pairs. */
const FEWEST_PAIRS = 4;
/** Measured until the true ratio is known this well, or there were as many pairs as are allowed. */
const PRECISION = 1.015;

/** What a comparison needs. */
export interface Contest {
  readonly server: BenchServer;
  /** One for each build: both are under load at the same time. */
  readonly generators: readonly [LoadGenerator, LoadGenerator];
  readonly old: Build;
  readonly new: Build;
  /** The most pairs of processes that are measured in a scenario. */
  readonly mostPairs: number;
}

/**
 * Compares two builds in one scenario. Pair by pair a process of each is started on the same core, and
 * both are under the same load in the same seconds: whatever else the machine does hits both.
 */
export async function compareBuilds(contest: Contest, scenario: Scenario): Promise<Comparison> {
  const { server } = contest;
  const folder = await mkdtemp(join(tmpdir(), 'burgee-bench-'));
  const oldData = await server.createDatabase();
  try {
    const load = await fill(contest.old, oldData, folder, scenario);
    const newData = await copy(server, oldData);
    const pairs: Pair[] = [];
    try {
      while (needsMore(pairs, contest.mostPairs)) {
        pairs.push(await measurePair(contest, [oldData, newData], load, pairs.length));
      }
    } finally {
      await newData.close();
    }
    return summarise(pairs);
  } finally {
    await oldData.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the project by the old build, whose database the new one may bring up to date. */
async function fill(
  build: Build,
  data: BenchDatabase,
  folder: string,
  scenario: Scenario,
): Promise<PreparedLoad> {
  const burgee = await startBuild(build, { ...KEYS, DATABASE_URL: data.url }, 'first core');
  try {
    await fillProject(burgee.url, scenario);
    return await prepareLoad(folder, scenario, await createRequests(burgee.url, scenario.kind));
  } finally {
    await burgee.stop();
  }
}

/** PostgreSQL copies a database only while nobody is connected to it. */
async function copy(server: BenchServer, original: BenchDatabase): Promise<BenchDatabase> {
  await original.close();
  return server.copyDatabase(original);
}

/** The rounds of one process of each build. */
interface Pair {
  readonly oldRounds: readonly Round[];
  readonly newRounds: readonly Round[];
  readonly ratiosOfRounds: readonly number[];
}

function needsMore(pairs: readonly Pair[], most: number): boolean {
  if (pairs.length < Math.min(FEWEST_PAIRS, most)) return true;
  const { ratio, high } = estimate(pairs.map(({ ratiosOfRounds }) => middleMean(ratiosOfRounds)));
  return pairs.length < most && high / ratio > PRECISION;
}

/**
 * Which of the two is started first takes turns from pair to pair, and which is put under load first
 * from round to round: being first is not the same as being second.
 */
async function measurePair(
  contest: Contest,
  [oldData, newData]: readonly [BenchDatabase, BenchDatabase],
  load: PreparedLoad,
  number: number,
): Promise<Pair> {
  const isNewFirst = number % 2 === 1;
  const older = { build: contest.old, data: oldData };
  const newer = { build: contest.new, data: newData };
  const [first, second] = isNewFirst ? [newer, older] : [older, newer];
  const one = await start(first);
  try {
    const other = await start(second);
    try {
      const rounds = await measureRounds(contest.generators, [one, other], load, number);
      const oldRounds = rounds.map((round) => round[isNewFirst ? 1 : 0]);
      const newRounds = rounds.map((round) => round[isNewFirst ? 0 : 1]);
      return { oldRounds, newRounds, ratiosOfRounds: ratiosOf(oldRounds, newRounds) };
    } finally {
      await other.stop();
    }
  } finally {
    await one.stop();
  }
}

function start({ build, data }: { build: Build; data: BenchDatabase }): Promise<MeasuredProcess> {
  return startBuild(build, { ...KEYS, DATABASE_URL: data.url }, 'first core');
}

async function measureRounds(
  generators: Contest['generators'],
  [one, other]: readonly [MeasuredProcess, MeasuredProcess],
  load: PreparedLoad,
  number: number,
): Promise<[Round, Round][]> {
  const measure = async (seconds: number, round: number): Promise<[Round, Round]> => {
    const timed = { ...load, seconds, offset: (number * ROUNDS_PER_PAIR + round) * 31_013 };
    const [now, then] = round % 2 === 0 ? [one, other] : [other, one];
    const both = await Promise.all([
      measureRound(generators[0], now, timed),
      measureRound(generators[1], then, timed),
    ]);
    return round % 2 === 0 ? both : [both[1], both[0]];
  };
  await measure(WARM_UP_SECONDS, 0);
  const rounds: [Round, Round][] = [];
  while (rounds.length < ROUNDS_PER_PAIR) {
    rounds.push(await measure(ROUND_SECONDS, rounds.length + 1));
  }
  return rounds;
}

/** On a machine with much other work a round may pass without a reply; it says nothing. */
function ratiosOf(oldRounds: readonly Round[], newRounds: readonly Round[]): number[] {
  const ratios = oldRounds.map(({ cost }, at) => (newRounds[at]?.cost ?? Number.NaN) / cost);
  const valid = ratios.filter((ratio) => Number.isFinite(ratio) && ratio > 0);
  if (valid.length < ROUNDS_PER_PAIR / 2) {
    throw new Error('Nothing to compare: too few replies, or no processor time on this system.');
  }
  return valid;
}

function summarise(pairs: readonly Pair[]): Comparison {
  const ratios = pairs.map(({ ratiosOfRounds }) => middleMean(ratiosOfRounds));
  return {
    estimate: estimate(ratios),
    ratios,
    ratiosOfRounds: pairs.flatMap(({ ratiosOfRounds }) => ratiosOfRounds),
    oldRounds: pairs.flatMap(({ oldRounds }) => oldRounds),
    newRounds: pairs.flatMap(({ newRounds }) => newRounds),
  };
}
