import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

/** Fields of `/flags` under the names that older clients send. */
describe('a request with the names of older clients', () => {
  let burgee: StartedBurgee;

  beforeAll(async () => {
    burgee = await startBurgee();
    const properties = { $group_type: 'company', $group_key: 'acme' };
    const event = { event: '$groupidentify', distinct_id: 'acme', properties };
    const body = { api_key: burgee.projectApiKey, ...event };
    await burgee.request('POST', '/i/v0/e/', { body });
  });

  afterAll(async () => {
    await burgee.stop();
  });

  const ask = async (body: object) => {
    const sent = { $token: burgee.projectApiKey, $distinct_id: 'somebody', ...body };
    const reply = await burgee.request('POST', '/flags', { query: { v: '2' }, body: sent });
    expect(reply.status, reply.text).toBe(200);
    return reply.body;
  };

  it('means the person by $properties', async () => {
    const { key } = await burgee.createFlag({
      filters: { groups: [{ properties: [{ key: 'plan', type: 'person', value: 'pro' }] }] },
    });
    const asked = { $properties: { plan: 'pro' }, flag_keys: [key] };
    expect(pick(await ask(asked), 'flags')).toMatchObject({ [key]: { enabled: true } });
    expect(pick(await ask({ flag_keys: [key] }), 'flags', key, 'enabled')).toBe(false);
  });

  it('means groups by $groups and $group_properties', async () => {
    const filter = { key: 'seats', type: 'group', group_type_index: 0, operator: 'gt', value: 5 };
    const { key } = await burgee.createFlag({
      filters: { aggregation_group_type_index: 0, groups: [{ properties: [filter] }] },
    });
    const asked = { $groups: { company: 'acme' }, $group_properties: { company: { seats: 9 } } };
    expect(pick(await ask(asked), 'flags', key, 'enabled')).toBe(true);
    expect(pick(await ask({ $groups: { company: 'acme' } }), 'flags', key, 'enabled')).toBe(false);
  });

  it('means the device by device_id', async () => {
    const { key } = await burgee.createFlag({
      bucketing_identifier: 'device_id',
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    const devices = Array.from({ length: 16 }, (_, index) => `device-${index}`);
    for (const device of devices) {
      const [older, newer] = [await ask({ device_id: device }), await ask({ $device_id: device })];
      expect(pick(older, 'flags', key)).toEqual(pick(newer, 'flags', key));
    }
  });

  it('means the visitor by anon_distinct_id and contexts by evaluation_environments', async () => {
    const { key } = await burgee.createFlag({ evaluation_contexts: ['web'] });
    const seen = async (contexts: string[]) =>
      Object.keys(Object(pick(await ask({ evaluation_environments: contexts }), 'flags')));
    expect(await seen(['web'])).toContain(key);
    expect(await seen(['mobile'])).not.toContain(key);
    const continuous = await burgee.createFlag({
      ensure_experience_continuity: true,
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    const values = new Set<unknown>();
    for (let index = 0; index < 16; index += 1) {
      const visitor = { anon_distinct_id: `visitor-${index}` };
      values.add(pick(await ask(visitor), 'flags', continuous.key, 'enabled'));
    }
    expect(values).toEqual(new Set([true, false]));
  });
});
