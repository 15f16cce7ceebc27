import { PostHog } from 'posthog-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../contract.ts';
import { coverageTable } from '../coverage-cases.ts';
import { createHttpClient, type HttpClient } from '../http.ts';
import type { CoverageWorld } from '../operations/provoke.ts';
import { createWorld } from '../operations/world.ts';
import { type StartedBurgee, startBurgee } from '../start-burgee.ts';
import { type Prism, startPrism } from './start-prism.ts';

const OUTAGE = 503;
const NOT_PROVOKED = 500;

/** Prism between client and service: it turns a reply that breaks the contract into an error. */
describe('through the proxy of Prism', () => {
  let burgee: StartedBurgee;
  let proxy: Prism;
  let client: HttpClient;
  let world: CoverageWorld;

  beforeAll(async () => {
    burgee = await startBurgee();
    proxy = await startPrism({ upstream: burgee.url, isStrict: true });
    client = createHttpClient(proxy.url);
    world = { ...(await createWorld(burgee)), send: client.send };
  }, 60_000);

  afterAll(async () => {
    client.close();
    await proxy.stop();
    await burgee.stop();
  });

  for (const operation of operations) {
    for (const status of operation.statuses) {
      if (status === NOT_PROVOKED || status === OUTAGE) continue;
      it(`${operation.id} keeps the contract when it answers ${status}`, async () => {
        const reply = await coverageTable[operation.id]?.[status]?.(world);
        expect(reply?.headers['sl-violations']).toBeUndefined();
        expect(reply?.status, reply?.text).toBe(status);
      });
    }
  }

  it('an unchanged SDK evaluates, polls definitions and captures', async () => {
    const { key } = await burgee.createFlag();
    const sdk = new PostHog(burgee.projectApiKey, {
      host: proxy.url,
      personalApiKey: burgee.personalApiKey,
      fetchRetryCount: 0,
    });
    const errors: unknown[] = [];
    sdk.on('error', (error: unknown) => errors.push(error));
    try {
      await sdk.reloadFeatureFlags();
      expect(await sdk.isFeatureEnabled(key, 'a-person', { onlyEvaluateLocally: true })).toBe(true);
      expect(await sdk.getAllFlags('a-person')).toMatchObject({ [key]: true });
      await sdk.captureImmediate({ distinctId: 'a-person', event: 'tried the proxy' });
    } finally {
      await sdk.shutdown();
    }
    expect(errors).toEqual([]);
  });
});
