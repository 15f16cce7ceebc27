import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERYBODY, NOBODY } from './posthog-client.ts';
import { createClientFlags } from './sdk/client-flags.ts';
import { withClient, withLocalClient } from './sdk/posthog-node-4-client.ts';
import { type RecordingProxy, startRecordingProxy } from './sdk/recording-proxy.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;
let proxy: RecordingProxy;

beforeAll(async () => {
  burgee = await startBurgee();
  proxy = await startRecordingProxy(burgee.url);
  await withClient(proxy.url, {}, async (client) => {
    client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { seats: 500 } });
  });
  await createClientFlags(burgee);
});

afterAll(async () => {
  await proxy.stop();
  await burgee.stop();
});

describe('posthog-node 4 that asks the server', () => {
  it('reads boolean flags that are on, off, disabled and unknown', async () => {
    await withClient(proxy.url, {}, async (client) => {
      expect(await client.isFeatureEnabled('on', 'user-1')).toBe(true);
      expect(await client.isFeatureEnabled('off', 'user-1')).toBe(false);
      expect(await client.getFeatureFlag('on', 'user-1')).toBe(true);
      expect(await client.isFeatureEnabled('no-such-flag', 'user-1')).not.toBe(true);
      expect(await client.isFeatureEnabled('disabled', 'user-1')).not.toBe(true);
    });
  });

  it('asks for the one flag that it wants, and is answered with that one', async () => {
    await withClient(proxy.url, {}, async (client) => {
      const before = proxy.requests().length;
      await client.getFeatureFlag('on', 'user-1', { sendFeatureFlagEvents: false });
      const [asked, ...others] = proxy.requests().slice(before);
      expect(others).toEqual([]);
      expect(asked).toMatchObject({ method: 'POST', path: '/flags/?v=2', status: 200 });
      expect(asked?.json()).toMatchObject({
        token: burgee.projectApiKey,
        distinct_id: 'user-1',
        person_properties: { distinct_id: 'user-1' },
        flag_keys_to_evaluate: ['on'],
      });
      expect(Object.keys(Object(asked?.replyJson()).flags)).toEqual(['on']);
    });
  });

  it('reads a variant and the payloads of variants and of boolean flags', async () => {
    await withClient(proxy.url, {}, async (client) => {
      expect(await client.getFeatureFlag('colour', 'user-1')).toBe('blue');
      const blue = { colour: '#00f', sizes: [1, 2] };
      expect(await client.getFeatureFlagPayload('colour', 'user-1')).toEqual(blue);
      expect(await client.getFeatureFlagPayload('colour', 'user-1', 'blue')).toEqual(blue);
      expect(await client.getFeatureFlagPayload('settings', 'user-1')).toEqual({ limit: 7 });
      expect(await client.getFeatureFlagPayload('on', 'user-1')).toBeNull();
    });
  });

  it('reads all flags, with their payloads', async () => {
    await withClient(proxy.url, {}, async (client) => {
      const all = await client.getAllFlagsAndPayloads('user-1');
      expect(all.featureFlags).toMatchObject({
        on: true,
        off: false,
        'pro-only': false,
        'one-person': false,
        colour: 'blue',
        'big-companies': false,
        settings: true,
      });
      expect(all.featureFlags).not.toHaveProperty('disabled');
      expect(all.featureFlags).not.toHaveProperty('secret-settings');
      expect(all.featureFlagPayloads).toMatchObject({
        colour: { colour: '#00f', sizes: [1, 2] },
        settings: { limit: 7 },
      });
      expect(await client.getAllFlags('user-1')).toEqual(all.featureFlags);
    });
  });

  it('decides for a group with stored properties, and with those of the request', async () => {
    await withClient(proxy.url, {}, async (client) => {
      const ask = (groupKey: string, seats?: string) =>
        client.getFeatureFlag('big-companies', 'user-1', {
          groups: { company: groupKey },
          ...(seats === undefined ? {} : { groupProperties: { company: { seats } } }),
        });
      expect(await ask('acme')).toBe(true);
      expect(await ask('acme', '3')).toBe(false);
      expect(await ask('small')).toBe(false);
      expect(await ask('small', '101')).toBe(true);
    });
  });

  it('overrides the properties of a person', async () => {
    await withClient(proxy.url, {}, async (client) => {
      expect(await client.getFeatureFlag('pro-only', 'user-2')).toBe(false);
      const overridden = { personProperties: { plan: 'pro' } };
      expect(await client.getFeatureFlag('pro-only', 'user-2', overridden)).toBe(true);
    });
  });

  it('sends the distinct id as a property of the person, which a condition can be about', async () => {
    await withClient(proxy.url, {}, async (client) => {
      expect(await client.getFeatureFlag('one-person', 'chosen')).toBe(true);
      expect(await client.getFeatureFlag('one-person', 'another')).toBe(false);
      const claimed = { personProperties: { distinct_id: 'chosen' } };
      expect(await client.getFeatureFlag('one-person', 'another', claimed)).toBe(true);
    });
  });
});

describe('posthog-node 4 that evaluates locally', () => {
  it('reads the definitions from their older path, again and again', async () => {
    const path = `/api/feature_flag/local_evaluation?token=${burgee.projectApiKey}&send_cohorts`;
    const polls = () => proxy.requests().filter((request) => request.path === path);
    await withLocalClient(proxy.url, async () => {
      await expect.poll(() => polls().length, { timeout: 5_000 }).toBeGreaterThan(2);
    });
    expect(polls().filter(({ status }) => status !== 200)).toEqual([]);
    expect(polls()[0]?.replyJson()).toMatchObject({
      flags: expect.arrayContaining([expect.objectContaining({ key: 'on', active: true })]),
      group_type_mapping: { 0: 'company' },
      cohorts: {},
    });
  });

  it('decides without asking the server', async () => {
    const asked = () => proxy.requests().filter(({ path }) => path.startsWith('/flags')).length;
    const before = asked();
    await withLocalClient(proxy.url, async (client) => {
      const local = { onlyEvaluateLocally: true };
      expect(await client.getFeatureFlag('on', 'user-1', local)).toBe(true);
      expect(await client.getFeatureFlag('off', 'user-1', local)).toBe(false);
      expect(await client.getFeatureFlag('disabled', 'user-1', local)).toBe(false);
      expect(await client.getFeatureFlag('colour', 'user-1', local)).toBe('blue');
      expect(await client.getFeatureFlag('one-person', 'chosen', local)).toBe(true);
      expect(await client.getFeatureFlag('one-person', 'another', local)).toBe(false);
      const pro = { ...local, personProperties: { plan: 'pro' } };
      expect(await client.getFeatureFlag('pro-only', 'user-1', pro)).toBe(true);
      const large = { company: { seats: '500' } };
      const acme = { ...local, groups: { company: 'acme' }, groupProperties: large };
      expect(await client.getFeatureFlag('big-companies', 'user-1', acme)).toBe(true);
      expect(await client.getFeatureFlagPayload('colour', 'user-1', 'blue', local)).toEqual({
        colour: '#00f',
        sizes: [1, 2],
      });
    });
    expect(asked()).toBe(before);
  });

  it('asks the server when a property is missing, and the stored one decides', async () => {
    await withLocalClient(proxy.url, async (client) => {
      client.identify({ distinctId: 'local-pro', properties: { plan: 'pro' } });
      await client.flush();
      const local = { onlyEvaluateLocally: true };
      expect(await client.getFeatureFlag('pro-only', 'local-pro', local)).toBeUndefined();
      expect(await client.getFeatureFlag('pro-only', 'local-pro')).toBe(true);
    });
  });

  it('agrees with the server on the rollout to two hundred persons', async () => {
    const values = new Set<unknown>();
    await withLocalClient(proxy.url, async (client) => {
      for (let index = 0; index < 200; index += 1) {
        const distinctId = `person-${index}`;
        const local = { onlyEvaluateLocally: true, sendFeatureFlagEvents: false };
        const value = await client.getFeatureFlag('partly', distinctId, local);
        const reply = await burgee.evaluate({ distinct_id: distinctId }, { v: '1' });
        expect(reply.body).toMatchObject({ featureFlags: { partly: value } });
        values.add(value);
      }
    });
    expect(values).toEqual(new Set([true, false]));
  });

  it('hears of a change with the next poll', async () => {
    const flag = await burgee.createFlag({ key: 'changing', filters: NOBODY });
    await withLocalClient(proxy.url, async (client) => {
      const ask = () => client.getFeatureFlag('changing', 'u', { onlyEvaluateLocally: true });
      expect(await ask()).toBe(false);
      await burgee.api('PATCH', flag.path, { body: { filters: EVERYBODY } });
      await expect.poll(ask, { timeout: 5_000 }).toBe(true);
    });
    await burgee.api('PATCH', flag.path, { body: { deleted: true } });
  });
});

describe('posthog-node 4 that reads remote configuration', () => {
  it('gets the payload as text from the address with a slash and without a token', async () => {
    await withLocalClient(proxy.url, async (client) => {
      expect(await client.getRemoteConfigPayload('settings')).toBe('{"limit": 7}');
    });
    const path = '/api/projects/@current/feature_flags/settings/remote_config/';
    expect(proxy.requests().find((request) => request.path === path)?.status).toBe(200);
  });

  it('gets an encrypted payload in the clear with a personal API key', async () => {
    await withLocalClient(proxy.url, async (client) => {
      const payload = await client.getRemoteConfigPayload('secret-settings');
      expect(payload).toBe('{"password": "open sesame"}');
      const evaluated = await client.getFeatureFlagPayload('secret-settings', 'user-1');
      expect(JSON.stringify(evaluated)).not.toContain('open sesame');
    });
  });
});

describe('posthog-node 4 that captures', () => {
  it('stores what was queued when it shuts down, uncompressed as it sends it', async () => {
    const before = proxy.requests().length;
    await withClient(proxy.url, { flushAt: 1_000, flushInterval: 60_000 }, async (client) => {
      const properties = { total: 12.5 };
      const groups = { company: 'acme' };
      client.capture({ distinctId: 'buyer', event: 'bought', properties, groups });
      const person = { email: 'buyer@example.com', $set_once: { first: 'seen' } };
      client.identify({ distinctId: 'buyer', properties: person });
      client.alias({ distinctId: 'buyer', alias: 'anonymous-buyer' });
      client.groupIdentify({ groupType: 'company', groupKey: 'buyers', properties: { seats: 3 } });
      expect(await burgee.db('events').where({ distinct_id: 'buyer' })).toEqual([]);
    });
    const [batch, ...others] = proxy.requests().slice(before);
    expect(others).toEqual([]);
    expect(batch).toMatchObject({ method: 'POST', path: '/batch/', status: 200 });
    expect(batch?.headers['content-encoding']).toBeUndefined();
    const events = await burgee.db('events').where({ distinct_id: 'buyer' });
    expect(events.map(({ event }) => event).toSorted()).toEqual([
      '$create_alias',
      '$identify',
      'bought',
    ]);
    const bought = events.find(({ event }) => event === 'bought');
    expect(bought?.project_id).toBe(1);
    expect(bought?.properties).toMatchObject({
      total: 12.5,
      $lib: 'posthog-node',
      $lib_version: '4.18.0',
      $groups: { company: 'acme' },
    });
  });

  it('stored the person with both ids and properties, and the groups', async () => {
    const ids = await burgee
      .db('person_distinct_ids')
      .join('persons', 'persons.id', 'person_distinct_ids.person_id')
      .whereIn('distinct_id', ['buyer', 'anonymous-buyer'])
      .select('distinct_id', 'person_id', 'properties', 'is_identified');
    expect(ids.map(({ distinct_id }) => distinct_id).toSorted()).toEqual([
      'anonymous-buyer',
      'buyer',
    ]);
    expect(new Set(ids.map(({ person_id }) => person_id)).size).toBe(1);
    expect(ids[0]?.is_identified).toBe(true);
    expect(ids[0]?.properties).toMatchObject({ email: 'buyer@example.com', first: 'seen' });
    expect(
      await burgee.db('groups').orderBy('group_key').select('group_key', 'properties'),
    ).toEqual([
      { group_key: 'acme', properties: { seats: 500 } },
      { group_key: 'buyers', properties: { seats: 3 } },
    ]);
  });

  it('reports each used flag once, and attaches the flags when it is asked to', async () => {
    await withClient(proxy.url, {}, async (client) => {
      await client.getFeatureFlag('colour', 'reader');
      await client.getFeatureFlag('colour', 'reader');
      client.capture({ distinctId: 'reader', event: 'read', sendFeatureFlags: true });
    });
    const events = await burgee.db('events').where({ distinct_id: 'reader' }).orderBy('event');
    expect(events.map(({ event }) => event)).toEqual(['$feature_flag_called', 'read']);
    expect(events[0]?.properties).toMatchObject({
      $feature_flag: 'colour',
      $feature_flag_response: 'blue',
      locally_evaluated: false,
    });
    expect(events[1]?.properties).toMatchObject({ '$feature/colour': 'blue', '$feature/on': true });
    expect(events[1]?.properties.$active_feature_flags).toContain('colour');
  });

  it('was never refused, and left nothing in the log at error level', () => {
    expect(proxy.requests().filter(({ status }) => status >= 400)).toEqual([]);
    expect(burgee.errors()).toEqual([]);
  });
});
