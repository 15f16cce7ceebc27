import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList } from '../read.ts';
import { attack, freshAddress } from './attack.ts';
import { type AttackedService, KEYS } from './attacked-service.ts';
import type { HostileRequest } from './bodies.ts';
import { expectOthersServed, summaryOf } from './bounds.ts';
import { type Ground, prepareGround, START_TIMEOUT_MS } from './ground.ts';
import { honestBatch, honestRequests, sendUntilStored } from './honest.ts';

const MIB = 1024 * 1024;
/** A machine that was busy with something else gets a second chance. */
const again = { timeout: 120_000, retry: 1 };

let ground: Ground;

beforeAll(async () => {
  ground = await prepareGround();
}, START_TIMEOUT_MS);
afterAll(() => ground.remove());

describe('Honest traffic', () => {
  const EVENTS = 10_000;
  const LARGE_BYTES = 20 * MIB - 1_024;

  let names = 0;
  const freshName = () => {
    names += 1;
    return `large ${names}`;
  };

  /** A batch as large as may be, of events that no other batch has. */
  function largeBatch(name: string): Buffer {
    const bytes = Math.floor(LARGE_BYTES / EVENTS) - 40;
    const made = honestBatch(KEYS.projectApiKey, EVENTS, bytes).toString();
    const batch = Buffer.from(made.replaceAll('"page seen"', `"${name}"`));
    expect(batch.length).toBeGreaterThan(19 * MIB);
    expect(batch.length).toBeLessThan(20 * MIB);
    return batch;
  }

  const toBatch = (body: Buffer): HostileRequest => ({
    method: 'POST',
    path: '/batch/',
    headers: { 'content-type': 'application/json' },
    body,
    statuses: [200],
  });

  async function countEvents(name: string): Promise<number> {
    const { rows } = await ground.database.db.raw(
      'SELECT count(*)::int AS events FROM events WHERE event = ?',
      [name],
    );
    return Number(pick(pickList({ rows }, 'rows'), 0, 'events'));
  }

  it(
    'A batch of 10,000 events and 20 MiB is stored, and nobody else waits for it',
    again,
    async () => {
      const name = freshName();
      const body = largeBatch(name);
      const seen = await ground.arena.during(async ({ url }) => {
        const { statuses, examples } = await attack(url, toBatch(body), {
          requests: 1,
          connections: 1,
          localAddress: freshAddress(),
        });
        expect(statuses, JSON.stringify(examples)).toEqual({ 200: 1 });
      });
      expect(await countEvents(name)).toBe(EVENTS);
      ground.expectRoomForOthers(seen);
    },
  );

  it(
    'Four at once are stored, those that were told to come back later among them',
    again,
    async () => {
      const batches = Array.from({ length: 4 }, () => {
        const name = freshName();
        return { name, body: largeBatch(name) };
      });
      const seen = await ground.arena.during(async ({ url }) => {
        await Promise.all(batches.map(({ body }) => sendUntilStored(url, toBatch(body))));
      });
      for (const { name } of batches) expect(await countEvents(name)).toBe(EVENTS);
      // There is room for two bodies of this size: the others are told to come back.
      ground.expectRoomForOthers(seen, 2);
      await ground.expectMemoryBack();
    },
  );

  it(
    'Fifty connections from one address at full speed are never told to slow down',
    again,
    async () => {
      const localAddress = freshAddress();
      const seen = await ground.arena.during(async (service) => {
        const [evaluation, batch] = honestRequests(service);
        if (evaluation === undefined || batch === undefined) throw new Error('No requests.');
        const [evaluated, stored] = await Promise.all([
          attack(service.url, evaluation, { requests: 8_000, connections: 40, localAddress }),
          attack(service.url, batch, { requests: 600, connections: 10, localAddress }),
        ]);
        expect(evaluated.statuses).toEqual({ 200: 8_000 });
        expect(stored.statuses).toEqual({ 200: 600 });
      });
      expect(Object.keys(seen.liveness.statuses)).toEqual(['200']);
      expect(Object.keys(seen.evaluation.statuses)).toEqual(['200']);
    },
  );
});

describe('Keys that nobody ever made', () => {
  const TRIES = 2_000;
  /** Far fewer than tries, and more than what the service asks by itself in that time. */
  const QUERIES_MAX = 200;
  const json = { 'content-type': 'application/json' };
  const key = (prefix: string, number: number) =>
    `${prefix}_invented${String(number).padStart(30, '0')}`;
  const withBody = (path: string, body: object): HostileRequest => ({
    method: 'POST',
    path,
    headers: json,
    body: Buffer.from(JSON.stringify(body)),
    statuses: [401, 429],
  });
  const reading = (path: string, bearer: string): HostileRequest => ({
    method: 'GET',
    path,
    headers: { authorization: `Bearer ${bearer}` },
    body: null,
    statuses: [401, 429],
  });
  const ways: readonly [string, (number: number) => HostileRequest][] = [
    [
      'evaluation',
      (number) => withBody('/flags?v=2', { token: key('phc', number), distinct_id: 'd' }),
    ],
    [
      'capture',
      (number) => withBody('/e/', { api_key: key('phc', number), event: 'e', distinct_id: 'd' }),
    ],
    ['management', (number) => reading('/api/projects/1/feature_flags/', key('phx', number))],
    ['definitions', (number) => reading('/flags/definitions', key('phs', number))],
    [
      'definitions of a project',
      (number) => reading(`/flags/definitions?token=${KEYS.projectApiKey}`, key('phx', number)),
    ],
  ];

  it.each(ways)('cost no query each and lock nobody out: %s', again, async (_name, make) => {
    const localAddress = freshAddress();
    const before = ground.queries();
    let queries = 0;
    const seen = await ground.arena.during(async (service) => {
      const { statuses, examples } = await attack(service.url, make, {
        requests: TRIES,
        connections: 20,
        localAddress,
      });
      queries = ground.queries() - before;
      const told = JSON.stringify({ statuses, examples });
      const others = Object.keys(statuses).filter((each) => each !== '401' && each !== '429');
      expect(others, told).toEqual([]);
      await expectServed(service, localAddress);
    });
    // Each evaluation of the probe looks stored properties up.
    const probed = Object.values(seen.evaluation.statuses).reduce((sum, n) => sum + n, 0);
    expect(queries - probed).toBeLessThan(QUERIES_MAX);
    expectOthersServed(seen, JSON.stringify(summaryOf(seen)));
  });

  /** That everything works from an address that had so many keys refused. */
  async function expectServed(service: AttackedService, localAddress: string | null) {
    for (const honest of honestRequests(service)) {
      const { statuses } = await attack(service.url, honest, {
        requests: 5,
        connections: 2,
        localAddress,
      });
      expect(statuses, honest.path).toEqual({ 200: 5 });
    }
  }
});
