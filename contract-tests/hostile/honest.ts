import { setTimeout as delay } from 'node:timers/promises';
import { attack, freshAddress } from './attack.ts';
import type { AttackedService } from './attacked-service.ts';
import type { HostileRequest } from './bodies.ts';
import type { Probe } from './probe.ts';

/** Requests of an SDK that is in order. */
export function honestRequests(service: AttackedService): readonly HostileRequest[] {
  const { projectApiKey, personalApiKey } = service.keys;
  const json = { 'content-type': 'application/json' };
  const statuses = [200];
  return [
    {
      method: 'POST',
      path: '/flags?v=2',
      headers: json,
      body: Buffer.from(service.evaluation),
      statuses,
    },
    {
      method: 'POST',
      path: '/batch/',
      headers: json,
      body: honestBatch(projectApiKey, EVENTS_PER_BATCH, EVENT_BYTES),
      statuses,
    },
    {
      method: 'GET',
      path: '/api/projects/1/feature_flags/',
      headers: { authorization: `Bearer ${personalApiKey}` },
      body: null,
      statuses,
    },
  ];
}

const EVENTS_PER_BATCH = 20;
const EVENT_BYTES = 600;

/** A batch of events of about so many bytes each, of as many persons as there are tens of events. */
export function honestBatch(projectApiKey: string, events: number, eventBytes: number): Buffer {
  const page = 'a sentence that somebody read. '.repeat(Math.ceil(eventBytes / 30));
  const batch = Array.from({ length: events }, (_, index) => ({
    event: 'page seen',
    distinct_id: `honest-${index % Math.ceil(events / 10)}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + index).toISOString(),
    properties: { index, page: `${index} ${page}`.slice(0, Math.max(1, eventBytes - 150)) },
  }));
  return Buffer.from(JSON.stringify({ api_key: projectApiKey, batch }));
}

const ROUNDS_MIN = 2;
const ROUNDS_MAX = 8;
const REQUESTS = 150;
const CONNECTIONS = 10;
/** A round that needs no more than this over the one before has found the service warm. */
const SETTLED_MB = 6;

/** The most memory that honest traffic makes it take, once that no longer grows; in MB. */
export async function warmUp(service: AttackedService, probe: Probe): Promise<number> {
  const localAddress = freshAddress();
  let peakMb = (await probe.take()).rssPeakMb;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    for (const honest of honestRequests(service)) {
      const { statuses, examples } = await attack(service.url, honest, {
        requests: REQUESTS,
        connections: CONNECTIONS,
        localAddress,
      });
      if (statuses['200'] !== REQUESTS) {
        throw new Error(`Honest traffic is refused: ${JSON.stringify({ statuses, examples })}`);
      }
    }
    const grownMb = (await probe.take()).rssPeakMb - peakMb;
    peakMb += Math.max(0, grownMb);
    if (round + 1 >= ROUNDS_MIN && grownMb < SETTLED_MB) break;
  }
  return peakMb;
}

const GIVE_UP_MS = 60_000;
const RETRY_MIN_MS = 100;

/**
 * Sends a batch as an SDK does, again after `Retry-After` as long as it is told to. Throws for any
 * other reply than 200, 429 and 503, and when it takes too long.
 */
export async function sendUntilStored(url: string, batch: HostileRequest): Promise<void> {
  const localAddress = freshAddress();
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < deadline) {
    const { statuses, retryAfters, examples } = await attack(url, batch, {
      requests: 1,
      connections: 1,
      localAddress,
      withinMs: GIVE_UP_MS,
    });
    if (statuses['200'] === 1) return;
    const [seconds] = retryAfters;
    if (seconds === undefined) throw new Error(JSON.stringify({ statuses, examples }));
    await delay(Math.max(RETRY_MIN_MS, Number(seconds) * 1_000));
  }
  throw new Error('The batch was never stored.');
}
