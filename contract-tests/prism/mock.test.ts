import createClient from 'openapi-fetch';
import { PostHog } from 'posthog-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { paths } from '../../generated/api.ts';
import { findFault, type Operation, operations } from '../contract.ts';
import { createHttpClient, type HttpClient, type HttpReply } from '../http.ts';
import { withBrowser } from '../sdk/browser.ts';
import { type Prism, startPrism } from './start-prism.ts';

/** A front-end team that has the contract and no Burgee. */
describe('the mock', () => {
  let mock: Prism;
  let client: HttpClient;

  beforeAll(async () => {
    mock = await startPrism({ upstream: null });
    client = createHttpClient(mock.url);
  }, 60_000);

  afterAll(async () => {
    client.close();
    await mock.stop();
  });

  /** Sends what the contract shows as a request, and prefers this for its reply. */
  function ask(operation: Operation, prefer: string): Promise<HttpReply> {
    const [example] = operation.requestExamples;
    const { rawExample: raw } = operation;
    const mediaType = raw === null ? {} : { 'content-type': raw.mediaType };
    return client.send(operation.method, operation.examplePath, {
      key: 'phx_any_key_is_good_enough_here',
      query: operation.requiredQuery,
      ...(example === undefined ? {} : { body: example }),
      ...(raw === null ? {} : { raw: raw.text }),
      headers: { ...operation.requiredHeaders, ...mediaType, prefer },
    });
  }

  for (const operation of operations) {
    for (const status of operation.statuses) {
      it(`shows what ${operation.id} looks like with ${status}`, async () => {
        const reply = await ask(operation, `code=${status}`);
        expect(reply.status, reply.text).toBe(status);
        expect(findFault(operation, reply)).toBeNull();
      });
    }
  }

  it('shows the example that is asked for by its name', async () => {
    for (const operation of operations) {
      for (const { status, name, value } of operation.namedReplies) {
        const reply = await ask(operation, `code=${status}, example=${name}`);
        expect(reply.body, `${operation.id} ${status} ${name}`).toEqual(value);
      }
    }
  });

  it('has several examples of what people build pages for', () => {
    const namesOf = (id: string) =>
      operations
        .filter((operation) => operation.id === id)
        .flatMap(({ namedReplies }) => namedReplies)
        .filter(({ status }) => status === 200)
        .map(({ name }) => name);
    expect(namesOf('listFeatureFlags')).toEqual(['page', 'empty']);
    expect(namesOf('getFeatureFlag')).toEqual(['flag', 'multivariate', 'remoteConfig']);
    expect(namesOf('getFeatureFlagStatus')).toEqual(['stale', 'active', 'deleted']);
    expect(namesOf('listFeatureFlagActivity')).toEqual(['disabled', 'empty']);
    expect(namesOf('getCohort')).toEqual(['dynamic', 'static']);
    expect(namesOf('listPersons')).toEqual(['found', 'none']);
  });

  it('answers an unchanged SDK', async () => {
    const sdk = new PostHog('phc_any', {
      host: mock.url,
      personalApiKey: 'phx_any_key_is_good_enough_here',
      fetchRetryCount: 0,
    });
    try {
      const flags = await sdk.getAllFlags('a-person', { disableGeoip: true });
      expect(Object.keys(flags).length).toBeGreaterThan(0);
      await sdk.captureImmediate({ distinctId: 'a-person', event: 'tried the mock' });
    } finally {
      await sdk.shutdown();
    }
  });

  it('answers a client that is generated from the contract', async () => {
    const generated = createClient<paths>({
      baseUrl: mock.url,
      headers: { authorization: 'Bearer phx_any_key_is_good_enough_here' },
    });
    const path = { project_id: '1' };
    const created = await generated.POST('/api/projects/{project_id}/feature_flags/', {
      params: { path },
      body: { key: 'new-checkout', filters: { groups: [{ rollout_percentage: 100 }] } },
    });
    expect(created.response.status).toBe(201);
    expect(created.data?.key).toBe('new-checkout');
    const evaluated = await generated.POST('/flags', {
      params: { query: { v: '2' } },
      body: { token: 'phc_any', distinct_id: 'a-person' },
    });
    expect(evaluated.data).toHaveProperty('flags');
    const none = await generated.GET('/api/projects/{project_id}/feature_flags/', {
      params: { path },
      headers: { prefer: 'example=empty' },
    });
    expect(none.data?.results).toEqual([]);
    const refused = await generated.GET('/api/projects/{project_id}/feature_flags/{id}/', {
      params: { path: { ...path, id: 1 } },
      headers: { prefer: 'code=404' },
    });
    expect(refused.error?.code).toBe('not_found');
  });

  it('answers posthog-js in a page, which may be of another origin', async () => {
    await withBrowser(mock.url, {}, async ({ posthog }) => {
      const keys = await new Promise<string[]>((resolve) => posthog.onFeatureFlags(resolve));
      expect(keys.length).toBeGreaterThan(0);
    });
  });

  it('does not need the slash at the end of a path', async () => {
    const reply = await client.send('GET', '/api/projects/1/feature_flags', { key: 'phx_any' });
    expect(reply.status).toBe(200);
  });
});
