import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Load, LoadFigure, LoadGenerator } from './load.ts';

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url));
const MICROSECONDS_PER_MS = 1_000;
const run = promisify(execFile);

/** Whether wrk is installed; it says its version and ends with 1. */
export function hasWrk(): boolean {
  return spawnSync('wrk', ['--version']).error === undefined;
}

/** The load generator wrk, with so many threads; `seconds` have to be whole ones. */
export function createWrk(threads: number): LoadGenerator {
  return {
    name: `wrk (threads: ${threads})`,
    run: (load) => runWrk(load, threads),
    stop() {},
  };
}

/** The line that the script prints at the end. */
interface Report {
  readonly requests: number;
  readonly microseconds: number;
  readonly bad: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuSeconds: number;
}

async function runWrk(load: Load, threads: number): Promise<LoadFigure> {
  const options = ['--threads', threads, '--connections', load.connections];
  const duration = ['--duration', `${load.seconds}s`, '--script', SCRIPT];
  const ofScript = ['--', load.requestsFile, load.offset];
  const { stdout } = await run('wrk', [...options, ...duration, load.url, ...ofScript].map(String));
  const line = stdout.split('\n').find((each) => each.startsWith('{'));
  if (line === undefined) throw new Error(`wrk made no report: ${stdout}`);
  const report: Report = JSON.parse(line);
  if (report.bad > 0) throw new Error(`${report.bad} bad replies under load.`);
  const seconds = report.microseconds / 1_000_000;
  return {
    requests: report.requests,
    seconds,
    p50Ms: report.p50 / MICROSECONDS_PER_MS,
    p99Ms: report.p99 / MICROSECONDS_PER_MS,
    generatorShare: report.cpuSeconds / seconds / threads,
  };
}
