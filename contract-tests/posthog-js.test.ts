import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { withBrowser } from './sdk/browser.ts';
import { type BrowserWorld, SOON, startBrowserWorld } from './sdk/posthog-js-world.ts';
import { PROJECT_API_KEY, type TestFlag } from './start-burgee.ts';

const ENROLLED = {
  key: '$feature_enrollment/preview',
  type: 'person',
  operator: 'exact',
  value: ['true'],
};

let world: BrowserWorld;
let lasting: TestFlag;

beforeAll(async () => {
  world = await startBrowserWorld();
  lasting = await world.burgee.createFlag({
    key: 'lasting',
    filters: { groups: [{ properties: [], rollout_percentage: 50 }] },
    ensure_experience_continuity: true,
  });
  await world.burgee.createFlag({
    key: 'preview',
    filters: {
      feature_enrollment: true,
      groups: [{ properties: [ENROLLED], rollout_percentage: 100 }],
    },
  });
});

afterAll(async () => {
  await world.stop();
});

/** One flag as the server decides it for somebody of whom the request says nothing else. */
async function decide(flagKey: string, distinctId: string): Promise<unknown> {
  const reply = await world.burgee.evaluate({ distinct_id: distinctId });
  return pick(reply.body, 'flags', flagKey, 'enabled');
}

describe('posthog-js that starts', () => {
  it('reads its settings, then the flags of the person', async () => {
    const requests = await world.record(() =>
      withBrowser(world.proxy.url, {}, async ({ posthog, scripts }) => {
        expect(await world.loadFlags(posthog)).toEqual(
          expect.arrayContaining(['colour', 'on', 'settings']),
        );
        expect(scripts()).toEqual([]);
      }),
    );
    expect(requests.map(({ method, path, status }) => [method, path, status])).toEqual([
      ['GET', `/array/${PROJECT_API_KEY}/config`, 200],
      ['POST', '/flags/?v=2', 200],
    ]);
    expect(requests[0]?.replyJson()).toMatchObject({
      token: PROJECT_API_KEY,
      hasFeatureFlags: true,
      supportedCompression: ['gzip', 'gzip-js'],
    });
  });

  it('reads its settings as a script in a page that allows scripts', async () => {
    const options = { disable_external_dependency_loading: false };
    const requests = await world.record(() =>
      withBrowser(world.proxy.url, options, async ({ posthog, scripts }) => {
        await world.loadFlags(posthog);
        expect(posthog.isFeatureEnabled('on')).toBe(true);
        expect(scripts()).toContain(`${world.proxy.url}/array/${PROJECT_API_KEY}/config.js`);
      }),
    );
    const paths = requests.map(({ path }) => path);
    expect(paths).toContain(`/array/${PROJECT_API_KEY}/config.js`);
    // The script did its work, so nothing is left to ask for.
    expect(paths).not.toContain(`/array/${PROJECT_API_KEY}/config`);
    expect(requests.find(({ path }) => path.startsWith('/flags'))?.isGzipped).toBe(true);
  });

  it('does not ask for flags of a project that has none', async () => {
    const { projectApiKey } = await world.burgee.createProject('No flags');
    const options = { bootstrap: { distinctID: 'passer-by', isIdentifiedID: false } };
    const requests = await world.record(() =>
      withBrowser(
        world.proxy.url,
        options,
        async ({ posthog }) => {
          posthog.capture('looked around');
          await world.storedEvents('looked around', 'passer-by');
        },
        projectApiKey,
      ),
    );
    expect(requests.map(({ method, path, status }) => [method, path, status])).toEqual([
      ['GET', `/array/${projectApiKey}/config`, 200],
      ['POST', '/e/', 200],
    ]);
    expect(requests[0]?.replyJson()).toMatchObject({ hasFeatureFlags: false });
  });
});

describe('posthog-js that reads flags', () => {
  it('has booleans, variants and payloads', async () => {
    await withBrowser(world.proxy.url, {}, async ({ posthog }) => {
      await world.loadFlags(posthog);
      expect(posthog.isFeatureEnabled('on')).toBe(true);
      expect(posthog.isFeatureEnabled('off')).toBe(false);
      expect(posthog.isFeatureEnabled('no-such-flag')).toBeUndefined();
      expect(posthog.isFeatureEnabled('disabled')).toBeUndefined();
      expect(posthog.getFeatureFlag('on')).toBe(true);
      expect(posthog.getFeatureFlag('colour')).toBe('blue');
      expect(posthog.getFeatureFlagPayload('colour')).toEqual({ colour: '#00f', sizes: [1, 2] });
      expect(posthog.getFeatureFlagPayload('settings')).toEqual({ limit: 7 });
    });
  });

  it('overrides the properties of the person', async () => {
    await withBrowser(world.proxy.url, {}, async ({ posthog }) => {
      await world.loadFlags(posthog);
      expect(posthog.isFeatureEnabled('pro-only')).toBe(false);
      await world.reloadFlags(posthog, () => posthog.setPersonPropertiesForFlags({ plan: 'pro' }));
      expect(posthog.isFeatureEnabled('pro-only')).toBe(true);
      await world.reloadFlags(posthog, () => posthog.resetPersonPropertiesForFlags());
      expect(posthog.isFeatureEnabled('pro-only')).toBe(false);
    });
  });

  it('decides for a group with stored properties, and with those of the request', async () => {
    await withBrowser(world.proxy.url, {}, async ({ posthog }) => {
      await world.loadFlags(posthog);
      expect(posthog.isFeatureEnabled('big-companies')).toBe(false);
      await world.reloadFlags(posthog, () => posthog.group('company', 'acme'));
      expect(posthog.isFeatureEnabled('big-companies')).toBe(true);
      const small = { company: { seats: 3 } };
      await world.reloadFlags(posthog, () => posthog.setGroupPropertiesForFlags(small));
      expect(posthog.isFeatureEnabled('big-companies')).toBe(false);
    });
  });

  it('has the properties of the person that identify names', async () => {
    await withBrowser(world.proxy.url, {}, async ({ posthog }) => {
      await world.loadFlags(posthog);
      await world.reloadFlags(posthog, () => posthog.identify('chosen', { plan: 'pro' }));
      expect(posthog.isFeatureEnabled('pro-only')).toBe(true);
      expect(posthog.isFeatureEnabled('one-person')).toBe(true);
      await expect.poll(() => decide('pro-only', 'chosen'), SOON).toBe(true);
    });
  });

  it('turns a flag on by enrolling in early access, and off by leaving', async () => {
    await withBrowser(world.proxy.url, {}, async ({ posthog }) => {
      await world.loadFlags(posthog);
      await world.reloadFlags(posthog, () => posthog.identify('enrolled'));
      expect(posthog.isFeatureEnabled('preview')).toBe(false);
      await world.reloadFlags(posthog, () =>
        posthog.updateEarlyAccessFeatureEnrollment('preview', true),
      );
      expect(posthog.isFeatureEnabled('preview')).toBe(true);
      // The event made it a property of the person, on every device.
      await expect.poll(() => decide('preview', 'enrolled'), SOON).toBe(true);
      await world.reloadFlags(posthog, () =>
        posthog.updateEarlyAccessFeatureEnrollment('preview', false),
      );
      expect(posthog.isFeatureEnabled('preview')).toBe(false);
      await expect.poll(() => decide('preview', 'enrolled'), SOON).toBe(false);
    });
  });
});

describe('posthog-js whose visitor logs in', () => {
  const visitors = Array.from({ length: 8 }, (_, index) => index);
  const kept = new Map<number, unknown>();

  it('keeps the value of a flag with experience continuity', async () => {
    for (const visitor of visitors) {
      const bootstrap = { distinctID: `new-visitor-${visitor}`, isIdentifiedID: false };
      await withBrowser(world.proxy.url, { bootstrap }, async ({ posthog }) => {
        await world.loadFlags(posthog);
        const before = posthog.getFeatureFlag('lasting');
        expect(before).toBeTypeOf('boolean');
        await world.reloadFlags(posthog, () => posthog.identify(`new-customer-${visitor}`));
        expect(posthog.get_distinct_id()).toBe(`new-customer-${visitor}`);
        expect(posthog.getFeatureFlag('lasting')).toBe(before);
      });
    }
  }, 60_000);

  it('keeps it for good when the visitor was stored as a person before', async () => {
    for (const visitor of visitors) {
      const bootstrap = { distinctID: `visitor-${visitor}`, isIdentifiedID: false };
      const options = { bootstrap, person_profiles: 'always' } as const;
      await withBrowser(world.proxy.url, options, async ({ posthog }) => {
        await world.loadFlags(posthog);
        const before = posthog.getFeatureFlag('lasting');
        posthog.capture('visited');
        await world.storedEvents('visited', `visitor-${visitor}`);
        await world.reloadFlags(posthog, () => posthog.identify(`customer-${visitor}`));
        expect(posthog.getFeatureFlag('lasting')).toBe(before);
        await world.storedEvents('$identify', `customer-${visitor}`);
        await world.reloadFlags(posthog, () => posthog.reloadFeatureFlags());
        expect(posthog.getFeatureFlag('lasting')).toBe(before);
        kept.set(visitor, before);
      });
    }
    expect(new Set(kept.values())).toEqual(new Set([true, false]));
  }, 60_000);

  it('keeps it on another device, where the new id is all that is known', async () => {
    for (const visitor of visitors) {
      const bootstrap = { distinctID: `customer-${visitor}`, isIdentifiedID: true };
      await withBrowser(world.proxy.url, { bootstrap }, async ({ posthog }) => {
        await world.loadFlags(posthog);
        expect(posthog.getFeatureFlag('lasting')).toBe(kept.get(visitor));
      });
    }
  }, 60_000);

  it('would have got another value in some cases without experience continuity', async () => {
    await world.burgee.api('PATCH', lasting.path, {
      body: { ensure_experience_continuity: false },
    });
    const changed: number[] = [];
    for (const visitor of visitors) {
      const value = await decide('lasting', `customer-${visitor}`);
      if (value !== kept.get(visitor)) changed.push(visitor);
    }
    expect(changed).not.toEqual([]);
  });

  it('left nothing in the log at error level', () => {
    expect(world.burgee.errors()).toEqual([]);
  });
});
