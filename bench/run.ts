import { benchEngine } from './engine.ts';
import { benchHttp, type HttpResult, type Scenario } from './http.ts';
import { benchSdk } from './sdk.ts';

/** A scenario with the ratio to the bare server that it should reach. */
interface Target extends Scenario {
  readonly ratio: number;
}

const SCENARIOS: readonly Target[] = [
  { name: '10 flags', flags: 10, kind: 'request properties', ratio: 0.6 },
  { name: '100 flags', flags: 100, kind: 'request properties', ratio: 0.4 },
  { name: '10 flags, stored person', flags: 10, kind: 'stored properties', ratio: 0.25 },
  { name: 'definitions of 100 flags, 304', flags: 100, kind: 'definitions 304', ratio: 0.6 },
];
const P99_MS_AT_100_FLAGS = 10;
const IDLE_MEMORY_MB = 150;
const ENGINE_US_AT_100_FLAGS = 35;
const SDK_RATIO = 25;

const misses: string[] = [];

console.log('Engine (one core)');
for (const { flags, evaluationsPerSecond, microsecondsPerEvaluation } of benchEngine()) {
  console.log(
    `  ${pad(flags)} flags  ${pad(Math.round(evaluationsPerSecond))} evaluations/s  ` +
      `${microsecondsPerEvaluation.toFixed(2)} us each`,
  );
  if (flags === 100 && microsecondsPerEvaluation >= ENGINE_US_AT_100_FLAGS) {
    misses.push(`engine ${microsecondsPerEvaluation.toFixed(1)} us at 100 flags`);
  }
}

const sdk = await benchSdk(100);
console.log(
  `\n100 flags for one person: engine ${Math.round(sdk.engine)}/s, ` +
    `posthog-node ${Math.round(sdk.sdk)}/s, ratio ${sdk.ratio.toFixed(1)}`,
);
if (sdk.ratio < SDK_RATIO) misses.push(`ratio ${sdk.ratio.toFixed(1)} to posthog-node`);

console.log('\nHTTP beside a bare node:http server that sends the same bytes');
for (const scenario of SCENARIOS) {
  const result = await benchHttp(scenario);
  console.log(
    `  ${scenario.name.padEnd(30)} ${String(result.replyBytes).padStart(6)} bytes  ` +
      `burgee ${describe(result.burgee)}  bare ${describe(result.bare)}  ` +
      `ratio ${result.ratio.toFixed(2)}  memory before load ${result.memoryMb?.toFixed(0) ?? '?'} MB`,
  );
  findMisses(scenario, result);
}

for (const miss of misses) console.log(`below target: ${miss}`);
if (process.argv.includes('--check') && misses.length > 0) process.exitCode = 1;

function findMisses(target: Target, result: HttpResult): void {
  if (result.ratio < target.ratio) {
    misses.push(`${target.name}: ratio ${result.ratio.toFixed(2)} < ${target.ratio}`);
  }
  if (target.name === '100 flags' && result.burgee.p99Ms >= P99_MS_AT_100_FLAGS) {
    misses.push(`${target.name}: p99 ${result.burgee.p99Ms} ms`);
  }
  if ((result.memoryMb ?? 0) >= IDLE_MEMORY_MB) {
    misses.push(`${target.name}: ${result.memoryMb?.toFixed(0)} MB of memory before load`);
  }
}

function describe(load: HttpResult['burgee']): string {
  return `${Math.round(load.requestsPerSecond)}/s (p50 ${load.p50Ms} ms, p99 ${load.p99Ms} ms)`;
}

function pad(value: number): string {
  return String(value).padStart(8);
}
