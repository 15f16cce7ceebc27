import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpClient } from '../http.ts';
import { attack, freshAddress } from './attack.ts';
import { type AttackedService, KEYS } from './attacked-service.ts';
import { type Ground, prepareGround, START_TIMEOUT_MS } from './ground.ts';
import { honestRequests } from './honest.ts';
import { headOf, openSlowClient, type SlowClient, writeSlowly } from './slow-client.ts';

/** Between two bytes of a client that sends them one by one. */
const PAUSE_MS = 20;
/** A machine that was busy with something else gets a second chance. */
const again = { timeout: 120_000, retry: 1 };
const MIB = 1024 * 1024;
/** How soon a refusal has to come that is to cost nobody anything. */
const AT_ONCE_MS = 10_000;

let ground: Ground;

beforeAll(async () => {
  ground = await prepareGround();
}, START_TIMEOUT_MS);
afterAll(() => ground.remove());

const refusedOf = (clients: readonly SlowClient[]) =>
  clients.map((client) => client.reply()).filter((reply) => reply !== null);

async function flood(
  service: AttackedService,
  count: number,
  addressOf: () => string | null,
  begin: (client: SlowClient) => void,
): Promise<void> {
  const clients = Array.from({ length: count }, () => openSlowClient(service.url, addressOf()));
  try {
    for (const client of clients) begin(client);
    await expect
      .poll(() => refusedOf(clients).length, { timeout: AT_ONCE_MS, interval: 50 })
      .toBeGreaterThan(0);
    for (const { status, retryAfter } of refusedOf(clients)) {
      expect([429, 503]).toContain(status);
      expect(retryAfter).not.toBeNull();
    }
  } finally {
    for (const client of clients) client.end();
  }
}

const BODY_BYTES = 20 * MIB;
const almostAll = Buffer.alloc(BODY_BYTES - 1, ' ');

it.each<[string, () => () => string | null]>([
  [
    'one address',
    () => {
      const address = freshAddress();
      return () => address;
    },
  ],
  ['an address each', () => freshAddress],
])('Bodies that never end are not held without a bound, from %s', again, async (_name, from) => {
  const addressOf = from();
  const seen = await ground.arena.during((service) =>
    flood(service, 50, addressOf, (client) => {
      client.write(headOf('/batch/', BODY_BYTES));
      client.write(almostAll);
    }),
  );
  ground.expectRoomForOthers(seen);
  await ground.expectMemoryBack();
});

it(
  'Requests under way are not taken without a bound from one address, and it is served after',
  again,
  async () => {
    const address = freshAddress();
    const seen = await ground.arena.during((service) =>
      flood(
        service,
        3_000,
        () => address,
        (client) => client.write(`${headOf('/e/', 1_000)}{`),
      ),
    );
    ground.expectRoomForOthers(seen);
    const service = await ground.arena.service();
    const [evaluation] = honestRequests(service);
    if (evaluation === undefined) throw new Error('No request.');
    const evaluate = () =>
      attack(service.url, evaluation, { requests: 1, connections: 1, localAddress: address });
    await expect
      .poll(async () => (await evaluate()).statuses, { timeout: AT_ONCE_MS, interval: 100 })
      .toEqual({ 200: 1 });
    const client = createHttpClient(service.url);
    const { text } = await client.send('GET', '/metrics');
    client.close();
    expect(Number(/^burgee_overloaded_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  },
);

it(
  'Clients that send byte by byte hold nobody up, and are answered in the end',
  again,
  async () => {
    const address = freshAddress();
    const body = JSON.stringify({ token: KEYS.projectApiKey, distinct_id: 'slow' });
    const text = headOf('/flags?v=2', body.length) + body;
    const seen = await ground.arena.during(async ({ url }) => {
      const clients = Array.from({ length: 100 }, () => openSlowClient(url, address));
      try {
        await writeSlowly(clients, text, PAUSE_MS);
        await expect
          .poll(() => refusedOf(clients).filter(({ status }) => status === 200).length, {
            timeout: AT_ONCE_MS,
          })
          .toBe(clients.length);
      } finally {
        for (const client of clients) client.end();
      }
    });
    ground.expectRoomForOthers(seen);
  },
);

it('Clients that never finish their headers hold nobody up', again, async () => {
  const seen = await ground.arena.during(async (service) => {
    const clients = Array.from({ length: 200 }, () => openSlowClient(service.url, null));
    for (const client of clients) client.write('GET /flags HTTP/1.1\r\nX-Slow: a');
    const client = createHttpClient(service.url);
    await writeSlowly(clients, 'a'.repeat(100), PAUSE_MS);
    expect((await client.send('GET', '/_readiness')).status).toBe(200);
    client.close();
    for (const slow of clients) slow.end();
  });
  ground.expectRoomForOthers(seen);
});
