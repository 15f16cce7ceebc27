import type { Load, LoadGenerator } from './load.ts';
import type { MeasuredProcess } from './processes.ts';
import { readProcessorTime, readTimeWithChildren } from './processor-time.ts';
import { median } from './statistics.ts';

/** What one server did under load for a while. */
export interface Round {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Microseconds of the server's processor time for each request; NaN where the system does not tell. */
  readonly cost: number;
  /** The same for PostgreSQL, all of its processes; NaN where it takes no part. */
  readonly postgresCost: number;
  /** The share of the time in which the server had something to do, on a core or waiting for one. */
  readonly serverShare: number;
  /** The share of a core that the busiest thread of the load generator used. */
  readonly generatorShare: number;
}

/** Below this share the server had time to spare: something else was the limit. */
export const BUSY_SHARE = 0.9;

/** Puts load on a server and says what each request cost. */
export async function measureRound(
  generator: LoadGenerator,
  server: MeasuredProcess,
  load: Omit<Load, 'url'>,
  postgresPid: number | null = null,
): Promise<Round> {
  const postgresTime = () => (postgresPid === null ? null : readTimeWithChildren(postgresPid));
  const before = readProcessorTime(server.pid);
  const postgresBefore = postgresTime();
  const figure = await generator.run({ ...load, url: server.url });
  const after = readProcessorTime(server.pid);
  const postgresAfter = postgresTime();
  const microseconds = figure.seconds * 1_000_000;
  const busy = (time: typeof after) => (time === null ? null : time.mainUsed + time.mainWaited);
  return {
    requestsPerSecond: figure.requests / figure.seconds,
    p50Ms: figure.p50Ms,
    p99Ms: figure.p99Ms,
    cost: difference(after?.used, before?.used) / figure.requests,
    postgresCost: difference(postgresAfter, postgresBefore) / figure.requests,
    serverShare: difference(busy(after), busy(before)) / microseconds,
    generatorShare: figure.generatorShare,
  };
}

/** Of each figure the median. */
export function medianRound(rounds: readonly Round[]): Round {
  const of = (read: (round: Round) => number) => median(rounds.map(read));
  return {
    requestsPerSecond: of((round) => round.requestsPerSecond),
    p50Ms: of((round) => round.p50Ms),
    p99Ms: of((round) => round.p99Ms),
    cost: of((round) => round.cost),
    postgresCost: of((round) => round.postgresCost),
    serverShare: of((round) => round.serverShare),
    generatorShare: of((round) => round.generatorShare),
  };
}

function difference(after: number | null | undefined, before: number | null | undefined): number {
  return (after ?? Number.NaN) - (before ?? Number.NaN);
}
