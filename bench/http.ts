import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OWN_BUILD } from './build.ts';
import { KEYS } from './burgee.ts';
import type { BenchServer } from './database.ts';
import { fillProject } from './fill-project.ts';
import type { Load, LoadGenerator } from './load.ts';
import { type MeasuredProcess, startBareServer, startBuild } from './processes.ts';
import { createRequests, type Requests, sendOne, writeRequests } from './requests.ts';
import { measureRound, medianRound, type Round } from './round.ts';
import type { Scenario } from './scenarios.ts';

/** Burgee beside the bare server that reads and sends as many bytes. */
export interface HttpResult {
  /** The mean of all replies. */
  readonly replyBytes: number;
  readonly burgee: Round;
  readonly bare: Round;
  /** The bare server's processor time for a request divided by Burgee's, in each round. */
  readonly ratios: readonly number[];
}

const WARM_UP_SECONDS = 3;
const ROUND_SECONDS = 3;
const ROUNDS = 3;
/** How many of Burgee's replies the bare server repeats. */
const REPLIES = 500;

/** Measures one scenario beside the bare server; they take turns. */
export async function benchHttp(
  server: BenchServer,
  generator: LoadGenerator,
  scenario: Scenario,
): Promise<HttpResult> {
  const folder = await mkdtemp(join(tmpdir(), 'burgee-bench-'));
  const database = await server.createDatabase();
  try {
    const env = { ...KEYS, DATABASE_URL: database.url };
    const burgee = await startBuild(OWN_BUILD, env, 'first core');
    try {
      await fillProject(burgee.url, scenario);
      const requests = await createRequests(burgee.url, scenario.kind);
      const load = await prepareLoad(folder, scenario, requests);
      const replyFile = join(folder, 'replies');
      const replies = await collectReplies(burgee, requests);
      await writeFile(replyFile, replies.join('\n'));
      const bare = await startBareServer(replyFile, requests.status, 'first core');
      try {
        const measure = (measured: MeasuredProcess, seconds: number, offset: number) =>
          measureRound(
            generator,
            measured,
            { ...load, seconds, offset },
            measured === burgee ? server.pid : null,
          );
        const replyBytes = Buffer.byteLength(replies.join('')) / replies.length;
        return { replyBytes, ...(await takeTurns(burgee, bare, measure)) };
      } finally {
        await bare.stop();
      }
    } finally {
      await burgee.stop();
    }
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A load but for where it goes to, where it begins, and how long it lasts. */
export type PreparedLoad = Pick<Load, 'requestsFile' | 'status' | 'connections'>;

/** Writes the requests of a scenario for the load generator. */
export async function prepareLoad(
  folder: string,
  { connections }: Scenario,
  requests: Requests,
): Promise<PreparedLoad> {
  const requestsFile = join(folder, 'requests');
  await writeRequests(requestsFile, requests);
  return { requestsFile, status: requests.status, connections };
}

/** Replies to a sample of the requests; throws when one is not what it should be. */
async function collectReplies(burgee: MeasuredProcess, requests: Requests): Promise<string[]> {
  const replies: string[] = [];
  for (let at = 0; at < REPLIES; at += 1) {
    replies.push(await sendOne(burgee.url, requests, at * 199));
  }
  return replies;
}

type Measure = (server: MeasuredProcess, seconds: number, offset: number) => Promise<Round>;

async function takeTurns(burgee: MeasuredProcess, bare: MeasuredProcess, measure: Measure) {
  await measure(burgee, WARM_UP_SECONDS, 0);
  await measure(bare, WARM_UP_SECONDS, 0);
  const rounds: { ours: Round; theirs: Round }[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const offset = round * 31_013;
    const theirs = await measure(bare, ROUND_SECONDS, offset);
    rounds.push({ ours: await measure(burgee, ROUND_SECONDS, offset), theirs });
  }
  return {
    burgee: medianRound(rounds.map(({ ours }) => ours)),
    bare: medianRound(rounds.map(({ theirs }) => theirs)),
    ratios: rounds.map(({ ours, theirs }) => theirs.cost / ours.cost),
  };
}
