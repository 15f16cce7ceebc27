import { benchEngine } from './engine.ts';
import { benchHttp, type HttpResult } from './http.ts';

/** The targets that `--check` holds the figures to. */
const TARGETS = { ratioAt100Flags: 0.2, p99MsAt100Flags: 10, idleMemoryMb: 150 };

const isCheck = process.argv.includes('--check');

console.log('Engine (one core)');
for (const { flags, evaluationsPerSecond, microsecondsPerEvaluation } of benchEngine()) {
  console.log(
    `  ${pad(flags)} flags  ${pad(Math.round(evaluationsPerSecond))} evaluations/s  ` +
      `${microsecondsPerEvaluation.toFixed(2)} us each`,
  );
}

console.log('\nPOST /flags beside a bare node:http server that sends the same bytes');
const results: HttpResult[] = [];
for (const flags of [10, 100]) {
  const result = await benchHttp(flags);
  results.push(result);
  console.log(
    `  ${pad(flags)} flags (${result.replyBytes} bytes)  ` +
      `burgee ${describe(result.burgee)}  bare ${describe(result.bare)}  ` +
      `ratio ${result.ratio.toFixed(2)}  memory before load ${result.memoryMb?.toFixed(0) ?? '?'} MB`,
  );
}

const misses = results.flatMap((result) => findMisses(result));
for (const miss of misses) console.log(`below target: ${miss}`);
if (isCheck && misses.length > 0) process.exitCode = 1;

function findMisses(result: HttpResult): string[] {
  const found: string[] = [];
  if (result.flags === 100 && result.ratio < TARGETS.ratioAt100Flags) {
    found.push(`ratio ${result.ratio.toFixed(2)} < ${TARGETS.ratioAt100Flags} at 100 flags`);
  }
  if (result.flags === 100 && result.burgee.p99Ms >= TARGETS.p99MsAt100Flags) {
    found.push(`p99 ${result.burgee.p99Ms} ms at 100 flags`);
  }
  if ((result.memoryMb ?? 0) >= TARGETS.idleMemoryMb) {
    found.push(`${result.memoryMb?.toFixed(0)} MB of memory before load`);
  }
  return found;
}

function describe(load: HttpResult['burgee']): string {
  return `${Math.round(load.requestsPerSecond)}/s (p50 ${load.p50Ms} ms, p99 ${load.p99Ms} ms)`;
}

function pad(value: number): string {
  return String(value).padStart(8);
}
