import type { BenchServer } from './database.ts';
import { benchHttp, type HttpResult } from './http.ts';
import type { LoadGenerator } from './load.ts';
import { BUSY_SHARE, type Round } from './round.ts';
import type { Scenario } from './scenarios.ts';
import { median } from './statistics.ts';

const P99_MS_AT_100_FLAGS = 10;

/** Measures all scenarios beside the bare server and prints them; returns the targets that were missed. */
export async function reportHttp(
  server: BenchServer,
  generator: LoadGenerator,
  scenarios: readonly Scenario[],
): Promise<string[]> {
  console.log(
    `\nProcessor time of the server for each request, Burgee beside a bare node:http server that sends the\n` +
      `same bytes; medians of three rounds in turns. Load: ${generator.name}`,
  );
  const misses: string[] = [];
  for (const scenario of scenarios) {
    const result = await benchHttp(server, generator, scenario);
    print(scenario, result);
    misses.push(...missesOf(scenario, result));
  }
  return misses;
}

function print({ name, connections }: Scenario, { replyBytes, ratios, burgee, bare }: HttpResult) {
  const spread = `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`;
  console.log(
    `  ${name} (${connections} connections, replies of ${Math.round(replyBytes)} bytes): ` +
      `ratio ${median(ratios).toFixed(2)} (${spread})`,
  );
  console.log(`    burgee ${describe(burgee)}`);
  console.log(`    bare   ${describe(bare)}`);
}

function describe(round: Round): string {
  const postgres =
    round.postgresCost >= 1 ? ` and ${round.postgresCost.toFixed(1)} us of PostgreSQL's` : '';
  const isGeneratorTheLimit = round.serverShare < BUSY_SHARE;
  return (
    `${round.cost.toFixed(1).padStart(6)} us of CPU${postgres}, ` +
    `${Math.round(round.requestsPerSecond)} requests/s, p50 ${round.p50Ms.toFixed(2)} ms, ` +
    `p99 ${round.p99Ms.toFixed(2)} ms; server busy ${percent(round.serverShare)}, ` +
    `generator ${percent(round.generatorShare)} of a core` +
    (isGeneratorTheLimit ? ' (THE SERVER WAS NOT THE LIMIT)' : '')
  );
}

function missesOf({ name, ratio, flags, kind }: Scenario, result: HttpResult): string[] {
  const misses: string[] = [];
  const measured = median(result.ratios);
  if (measured < ratio) misses.push(`${name}: ratio ${measured.toFixed(2)} < ${ratio}`);
  if (
    flags === 100 &&
    kind === 'request properties' &&
    result.burgee.p99Ms >= P99_MS_AT_100_FLAGS
  ) {
    misses.push(`${name}: p99 ${result.burgee.p99Ms.toFixed(1)} ms`);
  }
  return misses;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
