import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { KEYS, startBurgee } from './burgee.ts';
import type { BenchServer } from './database.ts';
import { type MeasuredProcess, startProcess } from './processes.ts';

/** What one server did under load. */
export interface Load {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Time of the processor for each request; null where the system does not tell. */
  readonly cpuMicroseconds: number | null;
}

/** Burgee beside the bare server that sends the same bytes. */
export interface HttpResult {
  readonly scenario: Scenario;
  readonly replyBytes: number;
  readonly burgee: Load;
  readonly bare: Load;
  /** Requests per second of Burgee divided by those of the bare server. */
  readonly ratio: number;
  readonly memoryMb: number | null;
}

const CONNECTIONS = 10;
const WARM_UP_SECONDS = 2;
const ROUND_SECONDS = 2;
const ROUNDS = 5;
const NOT_MODIFIED = 304;

/** What is measured: a project with so many flags, and one kind of request. */
export interface Scenario {
  readonly name: string;
  readonly flags: number;
  readonly kind: 'request properties' | 'stored properties' | 'definitions 304';
}

/** Measures one scenario: flags with one string condition and a 50 % rollout each. */
export async function benchHttp(server: BenchServer, scenario: Scenario): Promise<HttpResult> {
  const folder = await mkdtemp(join(tmpdir(), 'burgee-bench-'));
  const burgee = await startBurgee(server, scenario.flags);
  try {
    const request = await prepareRequest(burgee, scenario);
    const reply = await fetch(`${burgee.url}${request.path}`, request.options);
    if (reply.status !== request.status) throw new Error(`${scenario.name}: ${reply.status}`);
    const bytes = Buffer.from(await reply.arrayBuffer());
    const replyFile = join(folder, 'reply');
    await writeFile(replyFile, bytes);
    const bare = await startProcess(
      'bench/bare-server.ts',
      { BARE_REPLY_FILE: replyFile, BARE_STATUS: String(request.status) },
      '/_readiness',
    );
    try {
      const measured = await compare(burgee, bare, request);
      const memoryMb = burgee.idleMemoryMb;
      return { scenario, replyBytes: bytes.length, ...measured, memoryMb };
    } finally {
      await bare.stop();
    }
  } finally {
    await burgee.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A request that is sent over and over. */
export interface MeasuredRequest {
  readonly path: string;
  readonly status: number;
  readonly connections?: number;
  readonly options: {
    readonly method: 'GET' | 'POST';
    readonly headers: Record<string, string>;
    readonly body?: string;
  };
}

async function prepareRequest(
  burgee: MeasuredProcess,
  scenario: Scenario,
): Promise<MeasuredRequest> {
  if (scenario.kind === 'definitions 304') return definitionsRequest(burgee);
  const isStored = scenario.kind === 'stored properties';
  const person = { plan: 'pro', email: 'ann@example.com' };
  if (isStored) await storePerson(burgee, person);
  return {
    path: '/flags?v=2',
    status: 200,
    options: {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        token: KEYS.BURGEE_PROJECT_API_KEY,
        distinct_id: 'user-42',
        ...(isStored ? {} : { person_properties: person }),
      }),
    },
  };
}

async function definitionsRequest(burgee: MeasuredProcess): Promise<MeasuredRequest> {
  const path = `/flags/definitions?token=${KEYS.BURGEE_PROJECT_API_KEY}&send_cohorts`;
  const headers = { authorization: `Bearer ${KEYS.BURGEE_PERSONAL_API_KEY}` };
  const reply = await fetch(`${burgee.url}${path}`, { headers });
  const etag = reply.headers.get('etag') ?? '';
  await reply.arrayBuffer();
  const options = { method: 'GET' as const, headers: { ...headers, 'if-none-match': etag } };
  return { path, status: 304, options };
}

async function storePerson(burgee: MeasuredProcess, properties: object): Promise<void> {
  const reply = await fetch(`${burgee.url}/i/v0/e/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      api_key: KEYS.BURGEE_PROJECT_API_KEY,
      event: '$set',
      distinct_id: 'user-42',
      properties: { $set: properties },
    }),
  });
  if (reply.status !== 200) throw new Error(`No person was stored: ${await reply.text()}`);
}

/** Rounds take turns, so that a busy moment of the machine hits both; medians count. */
export async function compare(
  burgee: MeasuredProcess,
  bare: MeasuredProcess,
  request: MeasuredRequest,
): Promise<Pick<HttpResult, 'burgee' | 'bare' | 'ratio'>> {
  await load(burgee, request, WARM_UP_SECONDS);
  await load(bare, request, WARM_UP_SECONDS);
  const burgeeRounds: Load[] = [];
  const bareRounds: Load[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const isBurgeeFirst = round % 2 === 0;
    if (isBurgeeFirst) burgeeRounds.push(await load(burgee, request, ROUND_SECONDS));
    bareRounds.push(await load(bare, request, ROUND_SECONDS));
    if (!isBurgeeFirst) burgeeRounds.push(await load(burgee, request, ROUND_SECONDS));
  }
  const ours = median(burgeeRounds);
  const theirs = median(bareRounds);
  return { burgee: ours, bare: theirs, ratio: ours.requestsPerSecond / theirs.requestsPerSecond };
}

async function load(
  server: MeasuredProcess,
  request: MeasuredRequest,
  seconds: number,
): Promise<Load> {
  const cpuBefore = await server.cpuMs();
  const result = await autocannon({
    url: `${server.url}${request.path}`,
    ...request.options,
    connections: request.connections ?? CONNECTIONS,
    duration: seconds,
  });
  const isUnchanged = request.status === NOT_MODIFIED;
  const bad = isUnchanged ? result.requests.total - result['3xx'] : result.non2xx;
  if (bad > 0 || result.errors > 0) {
    throw new Error(`${bad} bad replies and ${result.errors} errors under load.`);
  }
  const cpuAfter = await server.cpuMs();
  return {
    requestsPerSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuMicroseconds:
      cpuBefore === null || cpuAfter === null
        ? null
        : ((cpuAfter - cpuBefore) * 1_000) / result.requests.total,
  };
}

function median(rounds: readonly Load[]): Load {
  const sorted = rounds.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('Nothing was measured.');
  return middle;
}
