import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withBrowser } from './browser.ts';
import { type BrowserWorld, startBrowserWorld } from './posthog-js-world.ts';

let world: BrowserWorld;

beforeAll(async () => {
  world = await startBrowserWorld();
});

afterAll(async () => {
  await world.stop();
});

describe('posthog-js that captures', () => {
  it('sends gzip as plain text once it knows that it may, and events are stored', async () => {
    const requests = await world.record(() =>
      withBrowser(world.proxy.url, {}, async ({ posthog }) => {
        await world.loadFlags(posthog);
        posthog.identify('shopper', { email: 's@example.com' }, { first: 'seen' });
        posthog.group('company', 'acme', { city: 'Berlin' });
        posthog.capture('bought', { total: 12.5 });
        await world.storedEvents('bought', 'shopper');
        await world.storedEvents('$groupidentify', 'shopper');
      }),
    );
    const sent = requests.filter(({ path, method }) => method === 'POST' && path === '/e/');
    expect(sent.length).toBeGreaterThan(0);
    for (const { isGzipped, headers, status } of sent) {
      expect([status, isGzipped]).toEqual([200, true]);
      expect(headers['content-type']).toBe('text/plain');
      expect(headers['content-encoding']).toBeUndefined();
    }
    const [bought] = await world.storedEvents('bought', 'shopper');
    expect(bought?.project_id).toBe(1);
    expect(bought?.properties).toMatchObject({
      total: 12.5,
      $lib: 'web',
      $groups: { company: 'acme' },
      '$feature/colour': 'blue',
      '$feature/off': false,
    });
    const groups = world.burgee.db('groups').where({ group_key: 'acme' }).select('properties');
    expect(await groups).toEqual([{ properties: { seats: 500, city: 'Berlin' } }]);
  });

  it('made one identified person of the visitor and the name', async () => {
    const persons = await world.burgee
      .db('person_distinct_ids')
      .join('persons', 'persons.id', 'person_distinct_ids.person_id')
      .where({ distinct_id: 'shopper' })
      .select('person_id', 'properties', 'is_identified');
    expect(persons[0]?.is_identified).toBe(true);
    expect(persons[0]?.properties).toMatchObject({ email: 's@example.com', first: 'seen' });
    const ids = await world.burgee
      .db('person_distinct_ids')
      .where('person_id', persons[0]?.person_id ?? 0)
      .select('distinct_id');
    expect(ids).toHaveLength(2);
  });

  it('reports each flag that was used', async () => {
    await withBrowser(world.proxy.url, {}, async ({ posthog }) => {
      await world.loadFlags(posthog);
      await world.reloadFlags(posthog, () => posthog.identify('flag-user'));
      posthog.getFeatureFlag('colour');
      posthog.getFeatureFlag('colour');
      const [called] = await world.storedEvents('$feature_flag_called', 'flag-user');
      expect(called?.properties).toMatchObject({
        $feature_flag: 'colour',
        $feature_flag_response: 'blue',
      });
    });
  });

  it('sends what it collected in one request when it batches', async () => {
    const requests = await world.record(() =>
      withBrowser(world.proxy.url, { request_batching: true }, async ({ posthog }) => {
        await world.loadFlags(posthog);
        posthog.identify('batcher');
        for (const step of [1, 2, 3]) posthog.capture('step', { step });
        await world.storedEvents('step', 'batcher', 3);
      }),
    );
    const together = requests
      .filter(({ path }) => path === '/e/')
      .map((request) => JSON.stringify(request.json()).split('"event":"step"').length - 1);
    expect(together.filter((count) => count > 0)).toEqual([3]);
  });

  it('works without compression', async () => {
    const requests = await world.record(() =>
      withBrowser(world.proxy.url, { disable_compression: true }, async ({ posthog }) => {
        await world.loadFlags(posthog);
        expect(posthog.getFeatureFlag('colour')).toBe('blue');
        await world.reloadFlags(posthog, () => posthog.identify('plain', { plan: 'pro' }));
        expect(posthog.isFeatureEnabled('pro-only')).toBe(true);
        posthog.capture('plainly bought');
        await world.storedEvents('plainly bought', 'plain');
      }),
    );
    const posts = requests.filter(({ method }) => method === 'POST');
    expect(posts.length).toBeGreaterThan(2);
    for (const { isGzipped, headers, status } of posts) {
      expect([status, isGzipped]).toEqual([200, false]);
      expect(headers['content-type']).toBe('application/json');
    }
  });

  it('left nothing in the log at error level', () => {
    expect(world.burgee.errors()).toEqual([]);
  });
});
