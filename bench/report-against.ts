import { type Comparison, type Contest, compareBuilds } from './against.ts';
import { KEYS } from './burgee.ts';
import { medianRound } from './round.ts';
import type { Scenario } from './scenarios.ts';
import { measureStart, prepareStart } from './startup.ts';
import { type Estimate, estimate, median } from './statistics.ts';

/** How much more processor time than the other build's is let pass. */
const SLOWER = 1.03;
const STARTS = 8;

/** Compares two builds under load and prints; returns where this one is slower, or may be. */
export async function reportAgainst(
  contest: Contest,
  scenarios: readonly Scenario[],
): Promise<string[]> {
  console.log(
    `Processor time of the server for each request: ${contest.new.folder} (new) against\n` +
      `${contest.old.folder} (old), under load at the same time. Load: ${contest.generators[0].name}`,
  );
  const misses: string[] = [];
  for (const scenario of scenarios) {
    const comparison = await compareBuilds(contest, scenario);
    print(scenario.name, comparison);
    misses.push(...judge(scenario.name, comparison.estimate));
  }
  return misses;
}

/** Compares what their starts cost, in turns, and prints; returns what `reportAgainst` does. */
export async function reportStartsAgainst(contest: Contest): Promise<string[]> {
  const starts = await compareStarts(contest);
  console.log(
    `  ${'start to ready'.padEnd(20)} new/old ${describe(starts.estimate)}  ` +
      `old ${starts.old.toFixed(0)} ms, new ${starts.new.toFixed(0)} ms of CPU`,
  );
  return judge('start to ready', starts.estimate);
}

function print(name: string, comparison: Comparison): void {
  const [older, newer] = [medianRound(comparison.oldRounds), medianRound(comparison.newRounds)];
  console.log(
    `  ${name.padEnd(20)} new/old ${describe(comparison.estimate)}  ` +
      `old ${older.cost.toFixed(1)} us, new ${newer.cost.toFixed(1)} us  ` +
      `pairs of processes ${list(comparison.ratios)}, rounds ${range(comparison.ratiosOfRounds)}`,
  );
}

async function compareStarts({ server, old: older, new: newer }: Contest) {
  const oldData = await server.createDatabase();
  const envOf = (url: string) => ({ ...KEYS, DATABASE_URL: url });
  await prepareStart(older, envOf(oldData.url));
  await oldData.close();
  const newData = await server.copyDatabase(oldData);
  await newData.close();
  const starts: { older: number; newer: number }[] = [];
  // The first start of each brings what it needs into the cache of files; it does not count.
  for (let start = 0; start <= STARTS; start += 1) {
    const pair = {
      older: (await measureStart(older, envOf(oldData.url))).cpuMs,
      newer: (await measureStart(newer, envOf(newData.url))).cpuMs,
    };
    if (start > 0) starts.push(pair);
  }
  return {
    estimate: estimate(starts.map((pair) => pair.newer / pair.older)),
    old: median(starts.map((pair) => pair.older)),
    new: median(starts.map((pair) => pair.newer)),
  };
}

/** What is not shown to be within the bound is named too: too few pairs prove nothing. */
function judge(name: string, { ratio, low, high }: Estimate): string[] {
  if (high <= SLOWER) return [];
  const verdict = low > SLOWER ? 'slower' : 'not decided, for the noise; more --pairs would help';
  return [`${name}: new/old ${describe({ ratio, low, high })}, ${verdict}`];
}

function describe({ ratio, low, high }: Estimate): string {
  return `${ratio.toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`;
}

function list(values: readonly number[]): string {
  return values.map((value) => value.toFixed(3)).join(' ');
}

function range(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `${values.length}: ${low.toFixed(3)} to ${high.toFixed(3)}`;
}
