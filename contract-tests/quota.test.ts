import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestProject } from './identities.ts';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

/** Counts are stored every few seconds; what other requests of this process did is known at once. */
const ONCE_STORED = { timeout: 15_000, interval: 100 };
const FEED = '/flags/definitions';
const FULL = { groups: [{ rollout_percentage: 100 }] };

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

interface Tenant extends TestProject {
  readonly key: string;
}

/** A project with one flag, and a key that reaches it. */
async function createTenant(flagKey = 'on'): Promise<Tenant> {
  const project = await burgee.createProject();
  const { key } = await burgee.createKey({ memberOf: [project.id] });
  const path = `/api/projects/${project.id}/feature_flags/`;
  const body = { key: flagKey, filters: FULL };
  expect((await burgee.request('POST', path, { key, body })).status).toBe(201);
  return { ...project, key };
}

const evaluate = ({ projectApiKey }: TestProject, query = { v: '2' }, path = '/flags', body = {}) =>
  burgee.request('POST', path, {
    query,
    body: { token: projectApiKey, distinct_id: 'p', ...body },
    headers: { 'user-agent': 'posthog-python/7.1.0' },
  });

const poll = ({ projectSecretKey }: TestProject, headers: Record<string, string> = {}) =>
  burgee.request('GET', FEED, { key: projectSecretKey, headers });

interface StoredCount {
  readonly kind: string;
  readonly sdk: string;
  readonly sdk_version: string;
  readonly requests: number;
}

async function countsOf({ id }: TestProject): Promise<StoredCount[]> {
  const rows = await burgee.db('request_usage').where({ project_id: id }).orderBy(['kind', 'sdk']);
  return rows.map(({ kind, sdk, sdk_version, requests }) => ({
    kind,
    sdk,
    sdk_version,
    requests: Number(requests),
  }));
}

describe('a project whose quota is used up', () => {
  let tenant: Tenant;

  beforeAll(async () => {
    tenant = await createTenant();
    await burgee.setQuota(tenant.id, 0);
    const limited = async () =>
      expect((await evaluate(tenant)).body).toHaveProperty('quotaLimited');
    await vi.waitFor(limited, { timeout: 4_000 });
  });

  const LIMITED = { quotaLimited: ['feature_flags'], quota_limited: ['feature_flags'] };
  const STAMP = { requestId: expect.any(String), evaluatedAt: expect.any(Number) };

  it.each<[string, string, object]>([
    ['/flags', '2', { errorsWhileComputingFlags: false, flags: {} }],
    ['/flags/', '3', { errorsWhileComputingFlags: false, flags: {} }],
    [
      '/flags',
      '1',
      { errorsWhileComputingFlags: false, featureFlags: {}, featureFlagPayloads: {} },
    ],
  ])('gets no flags on %s?v=%s, and is told why with status 200', async (path, v, rest) => {
    const reply = await evaluate(tenant, { v }, path);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ...rest, ...LIMITED, ...STAMP });
  });

  it.each<[string, object]>([
    ['1', { featureFlags: [] }],
    ['2', { featureFlags: {} }],
    ['3', { featureFlags: {} }],
    ['4', { flags: {} }],
  ])('is told the same on /decide?v=%s, beside the settings', async (v, rest) => {
    const reply = await evaluate(tenant, { v }, '/decide');
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ ...rest, ...LIMITED, hasFeatureFlags: true });
  });

  it('is not told so when it asks for no flags', async () => {
    const reply = await evaluate(tenant, { v: '2' }, '/flags', { disable_flags: true });
    expect(reply.body).toEqual({ errorsWhileComputingFlags: false, flags: {}, ...STAMP });
  });

  it('gets no definitions on any path, and exactly three fields that say why', async () => {
    for (const path of [FEED, `/api/projects/${tenant.id}/feature_flags/local_evaluation/`]) {
      for (const key of [tenant.projectSecretKey, tenant.key]) {
        const query = { token: tenant.projectApiKey };
        const reply = await burgee.request('GET', path, { key, query });
        expect(reply.status).toBe(402);
        expect(reply.body).toEqual({
          type: 'quota_limited',
          code: 'payment_required',
          detail: 'You have exceeded your feature flag request quota',
        });
        expect(reply.headers).not.toHaveProperty('etag');
      }
    }
  });

  it('is still told first that a key or a name is wrong', async () => {
    expect((await burgee.request('GET', FEED)).status).toBe(401);
    expect((await evaluate(tenant, { v: '2' }, '/flags', { token: 'phc_no' })).status).toBe(401);
    const nobody = await evaluate(tenant, { v: '2' }, '/flags', { distinct_id: null });
    expect(nobody.status).toBe(400);
  });

  it('can still be managed and captured, and leaves other projects alone', async () => {
    const path = `/api/projects/${tenant.id}/feature_flags/`;
    expect((await burgee.request('GET', path, { key: tenant.key })).status).toBe(200);
    const event = { api_key: tenant.projectApiKey, event: 'e', distinct_id: 'p' };
    expect((await burgee.request('POST', '/i/v0/e/', { body: event })).status).toBe(200);
    expect((await burgee.evaluate()).body).not.toHaveProperty('quotaLimited');
    expect((await burgee.api('GET', FEED)).status).toBe(200);
  });

  it('is served again at once after the command line lifts the quota', async () => {
    await burgee.setQuota(tenant.id, null);
    const isOn = async () => pick((await evaluate(tenant)).body, 'flags', 'on', 'enabled');
    await expect.poll(isOn, { timeout: 4_000, interval: 10 }).toBe(true);
    const reply = await evaluate(tenant);
    expect(reply.body).not.toHaveProperty('quotaLimited');
    expect(reply.body).not.toHaveProperty('quota_limited');
    expect((await poll(tenant)).status).toBe(200);
  });
});

describe('requests', () => {
  it('are counted by kind, day and SDK', async () => {
    const tenant = await createTenant();
    for (let round = 0; round < 3; round += 1) await evaluate(tenant);
    const { headers } = await poll(tenant, { 'user-agent': 'posthog-node/5.2.0' });
    const held = { 'user-agent': 'posthog-node/5.2.0', 'if-none-match': headers.etag ?? '' };
    for (let round = 0; round < 2; round += 1) expect((await poll(tenant, held)).status).toBe(304);
    await expect
      .poll(() => countsOf(tenant), ONCE_STORED)
      .toEqual([
        { kind: 'definitions', sdk: 'posthog-node', sdk_version: '5.2.0', requests: 1 },
        { kind: 'definitions_unchanged', sdk: 'posthog-node', sdk_version: '5.2.0', requests: 2 },
        { kind: 'evaluation', sdk: 'posthog-python', sdk_version: '7.1.0', requests: 3 },
      ]);
  }, 30_000);

  it('without flags to count, refused ones and those for surveys only are not counted', async () => {
    const surveys = await createTenant('survey-targeting-1');
    const counted = await createTenant();
    await evaluate(surveys);
    await evaluate(counted, { v: '2' }, '/flags', { disable_flags: true });
    await evaluate(counted, { v: '2' }, '/flags', { distinct_id: null });
    await burgee.request('GET', '/flags');
    await evaluate(counted);
    await expect.poll(async () => (await countsOf(counted)).length, ONCE_STORED).toBe(1);
    expect((await countsOf(counted))[0]?.requests).toBe(1);
    expect(await countsOf(surveys)).toEqual([]);
  }, 30_000);

  it('use a quota up, the definitions ten at a time, and a raised quota serves again', async () => {
    const tenant = await createTenant();
    await burgee.setQuota(tenant.id, 12);
    expect((await poll(tenant)).status).toBe(200);
    const { body } = await evaluate(tenant);
    expect(pick(body, 'flags', 'on', 'enabled')).toBe(true);
    await evaluate(tenant);
    const limited = async () => pick((await evaluate(tenant)).body, 'quotaLimited');
    await expect.poll(limited, ONCE_STORED).toEqual(['feature_flags']);
    expect((await poll(tenant)).status).toBe(402);
    await burgee.setQuota(tenant.id, 1_000_000);
    await expect.poll(limited, { timeout: 4_000, interval: 10 }).toBe(undefined);
    expect((await poll(tenant)).status).toBe(200);
  }, 30_000);
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
