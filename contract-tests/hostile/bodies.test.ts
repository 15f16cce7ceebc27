import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type HostileKind,
  managementKinds,
  placeKinds,
  tableKinds,
  variantKinds,
} from './bodies.ts';
import { expectBounded } from './bounds.ts';
import { BACK_TIMEOUT_MS, type Ground, prepareGround, START_TIMEOUT_MS } from './ground.ts';
import type { Sender } from './places.ts';

/**
 * How often each of all combinations of values, places and senders is sent. Without it, what stopped
 * the service once is sent a hundred times in every packing, and of the combinations only some, a
 * few times; `npm run test:hostile` sends everything a hundred times.
 */
const ALL_REQUESTS = Number(process.env.HOSTILE_REQUESTS ?? 0);
const SAMPLE_OF = 48;
const SAMPLE_REQUESTS = 10;
const REQUESTS = 100;
const CONNECTIONS = 10;
const WITHIN_MS = 20_000;
const KIND_TIMEOUT_MS = 4 * WITHIN_MS;

let ground: Ground;

beforeAll(async () => {
  ground = await prepareGround();
}, START_TIMEOUT_MS);
afterAll(() => ground.remove());

const often = { requests: REQUESTS, connections: CONNECTIONS, withinMs: WITHIN_MS };
const seldom = {
  requests: ALL_REQUESTS > 0 ? ALL_REQUESTS : SAMPLE_REQUESTS,
  connections: CONNECTIONS,
  withinMs: WITHIN_MS,
};

/** Every so manieth, by its place in the list, so that every run takes the same. */
function sample(kinds: readonly HostileKind[], offset: number): readonly HostileKind[] {
  if (ALL_REQUESTS > 0) return kinds;
  return kinds.filter((_, index) => index % SAMPLE_OF === offset % SAMPLE_OF);
}

const memoryComesBack = () =>
  it('Memory comes back', () => ground.expectMemoryBack(), BACK_TIMEOUT_MS + 5_000);

describe.each<Sender>(['nobody', 'customer'])('What stopped the service once, by %s', (sender) => {
  it.each(tableKinds(sender))(
    '$name',
    (kind) => expectBounded(ground.arena, kind, often),
    KIND_TIMEOUT_MS,
  );
  memoryComesBack();
});

describe('The same in other packings, and other values that are dear', () => {
  it.each(variantKinds('nobody'))(
    '$name',
    (kind) => expectBounded(ground.arena, kind, often),
    KIND_TIMEOUT_MS,
  );
  memoryComesBack();
});

describe.each<[Sender, number]>([
  ['stranger', 0],
  ['customer', 5],
])('Any value at any place, by a %s', (sender, offset) => {
  it.each([
    ...sample(placeKinds('capture', sender), offset),
    ...sample(placeKinds('analytics', sender), offset),
    ...sample(placeKinds('evaluation', sender), offset),
  ])('$name', (kind) => expectBounded(ground.arena, kind, seldom), KIND_TIMEOUT_MS);
  memoryComesBack();
});

describe.each<[Sender, number]>([
  ['stranger', 1],
  ['customer', 6],
])('Any value in a write of the management interface, by a %s', (sender, offset) => {
  // The ids that a service has are known only once it runs; how many kinds there are is known now.
  const names = managementKinds({ flagId: 1, cohortId: 1 }, sender).map(({ name }) => ({ name }));
  const all = names.map(
    ({ name }): HostileKind => ({
      name,
      build: () => {
        throw new Error('Built of the running service only.');
      },
    }),
  );
  it.each(sample(all, offset))(
    '$name',
    async ({ name }) => {
      const { subjects } = await ground.arena.service();
      const kind = managementKinds(subjects, sender).find((each) => each.name === name);
      expect(kind).toBeDefined();
      if (kind !== undefined) await expectBounded(ground.arena, kind, seldom);
    },
    KIND_TIMEOUT_MS,
  );
  memoryComesBack();
});
