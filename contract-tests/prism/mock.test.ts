import { PostHog } from 'posthog-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFault, operations } from '../contract.ts';
import { createHttpClient, type HttpClient, type RequestOptions } from '../http.ts';
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

  for (const operation of operations) {
    const [example] = operation.requestExamples;
    const { rawExample: raw } = operation;
    const options: RequestOptions = {
      key: 'phx_any_key_is_good_enough_here',
      query: operation.requiredQuery,
      ...(example === undefined ? {} : { body: example }),
      ...(raw === null ? {} : { raw: raw.text }),
    };
    const mediaType = raw === null ? {} : { 'content-type': raw.mediaType };
    for (const status of operation.statuses) {
      it(`shows what ${operation.id} looks like with ${status}`, async () => {
        const reply = await client.send(operation.method, operation.examplePath, {
          ...options,
          headers: { ...operation.requiredHeaders, ...mediaType, prefer: `code=${status}` },
        });
        expect(reply.status, reply.text).toBe(status);
        expect(findFault(operation, reply)).toBeNull();
      });
    }
  }

  it('shows the example that is asked for by its name', async () => {
    for (const operation of operations) {
      const [body] = operation.requestExamples;
      for (const { status, name, value } of operation.namedReplies) {
        const reply = await client.send(operation.method, operation.examplePath, {
          key: 'phx_any_key_is_good_enough_here',
          query: operation.requiredQuery,
          ...(body === undefined ? {} : { body }),
          headers: { ...operation.requiredHeaders, prefer: `code=${status}, example=${name}` },
        });
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

  it('does not need the slash at the end of a path', async () => {
    const reply = await client.send('GET', '/api/projects/1/feature_flags', { key: 'phx_any' });
    expect(reply.status).toBe(200);
  });
});
