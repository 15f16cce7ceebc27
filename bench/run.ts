import { type Build, OWN_BUILD } from './build.ts';
import { benchCapture } from './capture.ts';
import { startBenchServer } from './database.ts';
import { chooseGenerator } from './generator.ts';
import { benchManagement, reportManagement } from './management.ts';
import { readOptions } from './options.ts';
import { leaveFirstCore, useEveryCore } from './processes.ts';
import { reportAgainst, reportStartsAgainst } from './report-against.ts';
import { reportChanges } from './report-changes.ts';
import { reportEngine } from './report-engine.ts';
import { reportHttp } from './report-http.ts';
import { reportSdk } from './report-sdk.ts';
import { reportStarts } from './startup.ts';

/** Measures: `npm run bench`. What the figures show and what they do not is in docs/benchmarks.md. */

const options = readOptions(process.argv.slice(2));
const misses = options.against === null ? await measure() : await compareWith(options.against);
for (const miss of misses) console.log(`below target: ${miss}`);
if (options.check && misses.length > 0) process.exitCode = 1;

async function measure(): Promise<string[]> {
  const found = options.isPart ? [] : [...reportEngine(), ...(await reportSdk())];
  bindLoad();
  const generator = chooseGenerator(options.generator);
  const server = await startBenchServer();
  try {
    found.push(...(await reportHttp(server, generator, options.scenarios)));
    if (options.isPart) return found;
    found.push(...(await reportChanges(server)));
    // What follows is not measured beside another server that has one core, but by itself.
    useEveryCore();
    found.push(...(await reportStarts(server)));
  } finally {
    generator.stop();
    await server.stop();
  }
  return [...found, ...reportManagement(await benchManagement()), ...(await benchCapture())];
}

async function compareWith(old: Build): Promise<string[]> {
  bindLoad();
  const first = chooseGenerator(options.generator);
  const second = chooseGenerator(options.generator);
  const server = await startBenchServer();
  try {
    const { mostPairs, scenarios } = options;
    const contest = {
      server,
      generators: [first, second],
      old,
      new: OWN_BUILD,
      mostPairs,
    } as const;
    const found = await reportAgainst(contest, scenarios);
    if (!options.isPart) found.push(...(await reportStartsAgainst(contest)));
    return found;
  } finally {
    first.stop();
    second.stop();
    await server.stop();
  }
}

function bindLoad(): void {
  if (!leaveFirstCore())
    console.log('\nServers and load share their cores: figures are not exact.');
}
