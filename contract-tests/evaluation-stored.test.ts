import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

let burgee: StartedBurgee;
let groupFlag: TestFlag;

async function capture(event: object): Promise<void> {
  const body = { api_key: burgee.projectApiKey, distinct_id: 'somebody', ...event };
  const reply = await burgee.request('POST', '/i/v0/e/', { body });
  expect([reply.status, reply.text]).toEqual([200, '{"status":"Ok"}']);
}

async function isEnabled(key: string, body: object): Promise<unknown> {
  return pick((await burgee.evaluate(body)).body, 'flags', key, 'enabled');
}

beforeAll(async () => {
  burgee = await startBurgee();
  await burgee.createFlag({
    key: 'pro',
    filters: { groups: [{ properties: [{ key: 'plan', type: 'person', value: ['pro'] }] }] },
  });
  groupFlag = await burgee.createFlag({
    key: 'large',
    filters: {
      aggregation_group_type_index: 0,
      groups: [
        {
          properties: [
            { key: 'seats', type: 'group', group_type_index: 0, operator: 'gte', value: '100' },
          ],
        },
      ],
    },
  });
});

afterAll(async () => {
  await burgee.stop();
});

describe('stored properties of a person', () => {
  it('are used by the evaluation that follows the reply to the event', async () => {
    for (let index = 0; index < 10; index += 1) {
      const distinct_id = `person-${index}`;
      await capture({ event: 'paid', distinct_id, properties: { $set: { plan: 'pro' } } });
      expect(await isEnabled('pro', { distinct_id })).toBe(true);
      await capture({ event: '$set', distinct_id, $set: { plan: 'free' } });
      expect(await isEnabled('pro', { distinct_id })).toBe(false);
    }
  });

  it('give way to those of the request, key by key', async () => {
    const distinct_id = 'overridden';
    await capture({ event: '$set', distinct_id, $set: { plan: 'pro', age: 5 } });
    const ask = (person_properties: object) => isEnabled('pro', { distinct_id, person_properties });
    expect(await ask({ plan: 'free' })).toBe(false);
    expect(await ask({ age: 6 })).toBe(true);
    expect(await ask({ plan: 'pro' })).toBe(true);
  });

  it('are found by every id of the person', async () => {
    await capture({ event: '$set', distinct_id: 'anonymous-1', $set: { plan: 'pro' } });
    const properties = { $anon_distinct_id: 'anonymous-1' };
    await capture({ event: '$identify', distinct_id: 'known-1', properties });
    expect(await isEnabled('pro', { distinct_id: 'known-1' })).toBe(true);
    expect(await isEnabled('pro', { distinct_id: 'anonymous-1' })).toBe(true);
  });

  it('are written once by $set_once and removed by $unset', async () => {
    const distinct_id = 'once';
    const ask = () => isEnabled('pro', { distinct_id });
    await capture({ event: 'a', distinct_id, $set_once: { plan: 'pro' } });
    expect(await ask()).toBe(true);
    await capture({ event: 'b', distinct_id, $set_once: { plan: 'free' } });
    expect(await ask()).toBe(true);
    await capture({ event: 'c', distinct_id, properties: { $unset: ['plan'] } });
    expect(await ask()).toBe(false);
  });
});

describe('a flag for groups', () => {
  it('says that no group was given, whatever is known about the person', async () => {
    const reply = await burgee.evaluate({ distinct_id: 'somebody' });
    expect(pick(reply.body, 'flags', groupFlag.key)).toMatchObject({
      enabled: false,
      reason: { code: 'no_group_type' },
    });
  });

  it('uses stored properties at once, even of a kind of group never seen before', async () => {
    const group = { $group_type: 'company', $group_key: 'acme' };
    await capture({
      event: '$groupidentify',
      properties: { ...group, $group_set: { seats: 500 } },
    });
    expect(await isEnabled('large', { groups: { company: 'acme' } })).toBe(true);
    await capture({ event: '$groupidentify', properties: { ...group, $group_set: { seats: 5 } } });
    expect(await isEnabled('large', { groups: { company: 'acme' } })).toBe(false);
  });

  it('lets properties of the request go before stored ones', async () => {
    const groups = { company: 'acme' };
    const ask = (seats: unknown) =>
      isEnabled('large', { groups, group_properties: { company: { seats } } });
    expect(await ask(1_000)).toBe(true);
    expect(await ask('99')).toBe(false);
    expect(await isEnabled('large', { groups: { company: 'unknown' } })).toBe(false);
  });

  it('takes a number for the key of a group', async () => {
    const properties = { $group_type: 'company', $group_key: 42, $group_set: { seats: 200 } };
    await capture({ event: '$groupidentify', properties });
    expect(await isEnabled('large', { groups: { company: 42 } })).toBe(true);
    expect(await isEnabled('large', { groups: { company: '42' } })).toBe(true);
  });

  it('created no person for $groupidentify', async () => {
    const rows = await burgee.db('person_distinct_ids').where({ distinct_id: 'somebody' });
    expect(rows).toEqual([]);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
