import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DisposablePostgres, startDisposablePostgres } from '../test/disposable-postgres.ts';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FULL = { groups: [{ properties: [], rollout_percentage: 100 }] };
const NONE = { groups: [{ properties: [], rollout_percentage: 0 }] };
/** Sooner than the poll, so it is the notification that brings it; `npm run bench` measures how soon. */
const BY_NOTIFICATION = { timeout: 4_000, interval: 10 };

async function readValue(burgee: StartedBurgee, key: string): Promise<unknown> {
  return pick((await burgee.evaluate()).body, 'flags', key, 'enabled');
}

describe('two services on one database', () => {
  let first: StartedBurgee;
  let second: StartedBurgee;

  beforeAll(async () => {
    first = await startBurgee();
    second = await startBurgee({ connection: first.connection });
  });

  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  it('serve a change at once where it was made, and within a second elsewhere', async () => {
    const flag = await first.createFlag({ key: 'travelling', filters: NONE });
    for (let round = 0; round < 10; round += 1) {
      const filters = round % 2 === 0 ? FULL : NONE;
      const [writer, reader] = round < 5 ? [first, second] : [second, first];
      await writer.api('PATCH', flag.path, { body: { filters } });
      expect(await readValue(writer, flag.key)).toBe(filters === FULL);
      await expect.poll(() => readValue(reader, flag.key), BY_NOTIFICATION).toBe(filters === FULL);
    }
  });

  it('both stop to serve a flag that is deleted or switched off', async () => {
    const flag = await first.createFlag({ key: 'leaving' });
    await expect.poll(() => readValue(second, 'leaving'), BY_NOTIFICATION).toBe(true);
    await first.api('PATCH', flag.path, { body: { active: false } });
    await expect.poll(() => readValue(second, 'leaving'), BY_NOTIFICATION).toBe(undefined);
    await first.api('PATCH', flag.path, { body: { active: true } });
    await expect.poll(() => readValue(second, 'leaving'), BY_NOTIFICATION).toBe(true);
    await first.api('PATCH', flag.path, { body: { deleted: true } });
    await expect.poll(() => readValue(second, 'leaving'), BY_NOTIFICATION).toBe(undefined);
  });

  it('serve a project that the other one has never heard of', async () => {
    const project = await first.createProject();
    const reply = await second.evaluate({ token: project.projectApiKey });
    expect(reply.status).toBe(200);
  });

  it('take an unknown project key for known soon after its project is made', async () => {
    const body = { token: 'phc_not_yet', distinct_id: 'p' };
    expect((await second.request('POST', '/flags', { body })).status).toBe(401);
    await first.db('projects').insert({ name: 'Late', api_token: 'phc_not_yet' });
    const ask = async () => (await second.request('POST', '/flags', { body })).status;
    await expect.poll(ask, { timeout: 3_000, interval: 50 }).toBe(200);
  });

  it('both refuse a key within a second after it was revoked', async () => {
    const { id, key } = await first.createKey();
    const ask = (burgee: StartedBurgee) => async () =>
      (await burgee.request('GET', '/flags/definitions', { key })).status;
    expect([await ask(first)(), await ask(second)()]).toEqual([200, 200]);
    await first.revokeKey(id);
    await expect.poll(ask(first), BY_NOTIFICATION).toBe(401);
    await expect.poll(ask(second), BY_NOTIFICATION).toBe(401);
  });

  it('left nothing in the log at error level', () => {
    expect([...first.errors(), ...second.errors()]).toEqual([]);
  });
});

describe('an outage of the database', () => {
  let postgres: DisposablePostgres;
  let burgee: StartedBurgee;

  beforeAll(async () => {
    postgres = await startDisposablePostgres();
    burgee = await startBurgee({ connection: postgres.connection });
    await burgee.createFlag({ key: 'rollout-only', filters: FULL });
    await burgee.createFlag({
      key: 'needs-plan',
      filters: { groups: [{ properties: [{ key: 'plan', type: 'person', value: ['pro'] }] }] },
    });
  }, 60_000);

  afterAll(async () => {
    await burgee.stop();
    await postgres.destroy();
  });

  it('fails the flags that need stored data, and no others', async () => {
    await postgres.stop();
    const startedAt = Date.now();
    const reply = await burgee.evaluate();
    expect(Date.now() - startedAt).toBeLessThan(8_000);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      errorsWhileComputingFlags: true,
      flags: { 'rollout-only': { enabled: true }, 'needs-plan': { enabled: false, failed: true } },
    });
    expect(pick(reply.body, 'flags', 'rollout-only')).not.toHaveProperty('failed');
  });

  it('changes nothing for a request that brings what the flags need', async () => {
    const reply = await burgee.evaluate({ person_properties: { plan: 'pro' } });
    expect(reply.body).toMatchObject({
      errorsWhileComputingFlags: false,
      flags: { 'needs-plan': { enabled: true } },
    });
  });

  it('is never told as a bad key', async () => {
    const unknown = await burgee.evaluate({ token: 'phc_never_seen' });
    expect(unknown.status).toBe(503);
    expect(unknown.headers['retry-after']).toBe('1');
    expect(unknown.text).toMatch(/^Our database service is currently unavailable\./);
    const management = await burgee.request('GET', '/flags/definitions', { key: 'phx_never_seen' });
    expect(management.status).toBe(503);
    expect(management.body).toMatchObject({ type: 'server_error', code: 'service_unavailable' });
  });

  it('leaves health and definitions for known keys as they are', async () => {
    expect((await burgee.request('GET', '/_liveness')).status).toBe(200);
    expect((await burgee.request('GET', '/_readiness')).status).toBe(200);
    expect((await burgee.api('GET', '/flags/definitions')).status).toBe(200);
    expect((await burgee.request('GET', '/metrics')).status).toBe(200);
  });

  it('is over by itself once the database is back, changes included', async () => {
    await postgres.start();
    const flag = await expect
      .poll(async () => (await burgee.api('GET', '/api/projects/1/feature_flags/')).status, {
        timeout: 15_000,
      })
      .toBe(200)
      .then(() => burgee.createFlag({ key: 'afterwards' }));
    expect(await readValue(burgee, flag.key)).toBe(true);
    expect(pick((await burgee.evaluate()).body, 'errorsWhileComputingFlags')).toBe(false);
    expect(burgee.errors()).toEqual([]);
  }, 30_000);
});
