import { benchCapture } from './capture.ts';
import { benchChanges } from './changes.ts';
import { startBenchServer } from './database.ts';
import { benchHttp, type HttpResult, type Scenario } from './http.ts';
import { benchManagement, reportManagement } from './management.ts';
import { leaveFirstCore, useEveryCore } from './processes.ts';
import { reportEngine } from './report-engine.ts';
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
const SDK_RATIO = 25;
const FLAGS_OF_LARGE_PROJECT = 10_000;
const CHANGE_MS = 1_000;

const misses: string[] = reportEngine();

const sdk = await benchSdk(100);
console.log(
  `\n100 flags for one person: engine ${Math.round(sdk.engine)}/s, ` +
    `posthog-node ${Math.round(sdk.sdk)}/s, ratio ${sdk.ratio.toFixed(1)}`,
);
if (sdk.ratio < SDK_RATIO) misses.push(`ratio ${sdk.ratio.toFixed(1)} to posthog-node`);

if (!leaveFirstCore()) console.log('\nServers and load share their cores: ratios are not exact.');
const server = await startBenchServer();
try {
  console.log('\nHTTP beside a bare node:http server that sends the same bytes');
  for (const scenario of SCENARIOS) {
    const result = await benchHttp(server, scenario);
    console.log(
      `  ${scenario.name.padEnd(30)} ${String(result.replyBytes).padStart(6)} bytes  ` +
        `burgee ${describe(result.burgee)}  bare ${describe(result.bare)}  ` +
        `ratio ${result.ratio.toFixed(2)}  memory before load ${megabytes(result.memoryMb)}`,
    );
    findMisses(scenario, result);
  }
  const change = await benchChanges(server, FLAGS_OF_LARGE_PROJECT);
  const [idle = null, loaded = null, after = null] = change.memoryMb;
  const kilobytesPerFlag = (((loaded ?? 0) - (idle ?? 0)) * 1_024) / change.flags;
  console.log(
    `\nOne of ${change.flags} flags changed until served: median ${change.medianMs.toFixed(0)} ms, ` +
      `worst ${change.worstMs.toFixed(0)} ms; memory without flags ${megabytes(idle)}, ` +
      `with them ${megabytes(loaded)} (${kilobytesPerFlag.toFixed(1)} KB each), ` +
      `after the changes ${megabytes(after)}`,
  );
  if (change.medianMs >= CHANGE_MS)
    misses.push(`change served in ${change.medianMs.toFixed(0)} ms`);
} finally {
  await server.stop();
}

// What follows is not measured beside another server that has one core, but by itself.
useEveryCore();
misses.push(...reportManagement(await benchManagement()));
misses.push(...(await benchCapture()));

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

function describe({ requestsPerSecond, p50Ms, p99Ms, cpuMicroseconds }: HttpResult['burgee']) {
  return (
    `${Math.round(requestsPerSecond)}/s (p50 ${p50Ms} ms, p99 ${p99Ms} ms, ` +
    `${cpuMicroseconds?.toFixed(0) ?? '?'} us of CPU)`
  );
}

function megabytes(memoryMb: number | null): string {
  return `${memoryMb?.toFixed(0) ?? '?'} MB`;
}
