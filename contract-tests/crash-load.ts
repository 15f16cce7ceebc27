import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createHttpClient } from './http.ts';

/** What a load sent, and what of it was acknowledged. */
export interface CrashLoad {
  /** The uuids that were sent, acknowledged or not. */
  readonly sent: ReadonlySet<string>;
  readonly acknowledged: ReadonlySet<string>;
  /** The numbers of batches that were acknowledged, in that order. */
  readonly batches: readonly number[];
  /** Resolves when so many more batches are acknowledged. */
  acknowledge(more: number): Promise<void>;
  /** Lets every batch that is under way be acknowledged, and ends. */
  stop(): Promise<void>;
}

const SENDERS = 12;
const EVENTS_PER_BATCH = 8;
const RETRY_AFTER_MS = 25;

/** The flag that everybody calls, in every batch twice: once as each person. */
export const CALLED_FLAG = 'called';
const CALL = {
  event: '$feature_flag_called',
  properties: { $feature_flag: CALLED_FLAG, $feature_flag_response: true },
};

export const anonymousId = (batch: number) => `anonymous-${batch}`;
export const userId = (batch: number) => `user-${batch}`;

/**
 * Sends without pause, as SDKs do: what is not acknowledged is sent again as it was. Each batch
 * makes two persons, and once it is acknowledged, a request of its own merges them.
 */
export function startCrashLoad(url: string, projectApiKey: string): CrashLoad {
  const client = createHttpClient(url);
  const sent = new Set<string>();
  const acknowledged = new Set<string>();
  const batches: number[] = [];
  const waiting = new Set<{ readonly from: number; readonly done: () => void }>();
  let next = 0;
  let isStopped = false;

  async function send(body: object): Promise<boolean> {
    const reply = await client.send('POST', '/batch/', { body }).catch(() => null);
    return reply?.status === 200;
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const number = next;
      next += 1;
      for (const batch of [createBatch(number), [createMerge(number)]]) {
        for (const { uuid } of batch) sent.add(uuid);
        while (!(await send({ api_key: projectApiKey, batch }))) await delay(RETRY_AFTER_MS);
        for (const { uuid } of batch) acknowledged.add(uuid);
      }
      batches.push(number);
      for (const waiter of waiting) if (batches.length >= waiter.from) waiter.done();
    }
  }

  const running = Array.from({ length: SENDERS }, run);
  return {
    sent,
    acknowledged,
    batches,
    acknowledge(more) {
      const from = batches.length + more;
      return new Promise((resolve) => {
        const waiter = {
          from,
          done: () => {
            waiting.delete(waiter);
            resolve();
          },
        };
        waiting.add(waiter);
      });
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
      client.close();
    },
  };
}

/** Two persons, each with a property of their own and a call of the same flag. */
function createBatch(number: number) {
  const anonymous = { distinct_id: anonymousId(number), $set: { anonymous: number } };
  const identified = { distinct_id: userId(number), $set: { identified: number } };
  return Array.from({ length: EVENTS_PER_BATCH }, (_, index) => ({
    ...(index % 2 === 0 ? anonymous : identified),
    ...(index < 2 ? CALL : { event: `step ${index}` }),
    ...stamp(),
  }));
}

function createMerge(number: number) {
  const properties = { $anon_distinct_id: anonymousId(number) };
  return { event: '$identify', distinct_id: userId(number), properties, ...stamp() };
}

function stamp() {
  return { uuid: randomUUID() as string, timestamp: new Date().toISOString() };
}
