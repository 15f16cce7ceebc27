import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countAnswers } from './metrics.ts';
import {
  ALWAYS_BLUE,
  BIG_COMPANIES,
  EVERYBODY,
  NOBODY,
  PRO_ONLY,
  withClient,
} from './posthog-client.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
  await withClient(burgee, {}, async (client) => {
    client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { seats: 500 } });
  });
  await burgee.createFlag({ key: 'on', filters: EVERYBODY });
  await burgee.createFlag({ key: 'off', filters: NOBODY });
  await burgee.createFlag({ key: 'disabled', filters: EVERYBODY, active: false });
  await burgee.createFlag({ key: 'pro-only', filters: PRO_ONLY });
  await burgee.createFlag({ key: 'colour', filters: ALWAYS_BLUE });
  await burgee.createFlag({
    key: 'payload',
    filters: { ...EVERYBODY, payloads: { true: '{"limit": 7}' } },
  });
  await burgee.createFlag({ key: 'big-companies', filters: BIG_COMPANIES });
});

afterAll(async () => {
  await burgee.stop();
});

describe('posthog-node that asks the server', () => {
  it('reads boolean flags that are on, off and unknown', async () => {
    await withClient(burgee, {}, async (client) => {
      expect(await client.isFeatureEnabled('on', 'user-1')).toBe(true);
      expect(await client.isFeatureEnabled('off', 'user-1')).toBe(false);
      expect(await client.getFeatureFlag('on', 'user-1')).toBe(true);
      expect(await client.getFeatureFlag('no-such-flag', 'user-1')).toBeUndefined();
      expect(await client.getFeatureFlag('disabled', 'user-1')).toBeUndefined();
    });
  });

  it('reads a variant and the payloads of variants and of boolean flags', async () => {
    await withClient(burgee, {}, async (client) => {
      expect(await client.getFeatureFlag('colour', 'user-1')).toBe('blue');
      expect(await client.getFeatureFlagPayload('colour', 'user-1')).toEqual({
        colour: '#00f',
        sizes: [1, 2],
      });
      expect(await client.getFeatureFlagPayload('payload', 'user-1')).toEqual({ limit: 7 });
    });
  });

  it('reads all flags, with their payloads', async () => {
    await withClient(burgee, {}, async (client) => {
      const expected = {
        on: true,
        off: false,
        'pro-only': false,
        colour: 'blue',
        payload: true,
        'big-companies': false,
      };
      expect(await client.getAllFlags('user-1')).toEqual(expected);
      const { featureFlagPayloads } = await client.getAllFlagsAndPayloads('user-1');
      expect(featureFlagPayloads).toEqual({
        colour: { colour: '#00f', sizes: [1, 2] },
        payload: { limit: 7 },
      });
    });
  });

  it('decides for a group with stored properties, and with those of the request', async () => {
    await withClient(burgee, {}, async (client) => {
      const ask = (groupKey: string, seats?: number) =>
        client.getFeatureFlag('big-companies', 'user-1', {
          groups: { company: groupKey },
          ...(seats === undefined ? {} : { groupProperties: { company: { seats: `${seats}` } } }),
        });
      expect(await ask('acme')).toBe(true);
      expect(await ask('acme', 3)).toBe(false);
      expect(await ask('small')).toBe(false);
      expect(await ask('small', 101)).toBe(true);
    });
  });

  it('overrides the properties of a person', async () => {
    await withClient(burgee, {}, async (client) => {
      expect(await client.getFeatureFlag('pro-only', 'user-2')).toBe(false);
      const overridden = { personProperties: { plan: 'pro' } };
      expect(await client.getFeatureFlag('pro-only', 'user-2', overridden)).toBe(true);
    });
  });
});

describe('posthog-node that evaluates locally', () => {
  it('decides from definitions that it polls, and hears with 304 that nothing changed', async () => {
    for (const secret of [burgee.personalApiKey, burgee.projectSecretKey]) {
      const evaluated = await countAnswers(burgee, 'evaluateFlags', 200);
      const unchanged = await countAnswers(burgee, 'getFlagDefinitions', 304);
      const options = { personalApiKey: secret, featureFlagsPollingInterval: 100 };
      await withClient(burgee, options, async (client) => {
        expect(await client.waitForLocalEvaluationReady(5_000)).toBe(true);
        const local = { onlyEvaluateLocally: true };
        expect(await client.getFeatureFlag('on', 'user-1', local)).toBe(true);
        expect(await client.getFeatureFlag('off', 'user-1', local)).toBe(false);
        expect(await client.getFeatureFlag('colour', 'user-1', local)).toBe('blue');
        expect(
          await client.getFeatureFlag('pro-only', 'user-1', {
            ...local,
            personProperties: { plan: 'pro' },
          }),
        ).toBe(true);
        expect(
          await client.getFeatureFlag('big-companies', 'user-1', {
            ...local,
            groups: { company: 'acme' },
            groupProperties: { company: { seats: '500' } },
          }),
        ).toBe(true);
        await expect
          .poll(() => countAnswers(burgee, 'getFlagDefinitions', 304), { timeout: 5_000 })
          .toBeGreaterThan(unchanged);
      });
      expect(await countAnswers(burgee, 'evaluateFlags', 200)).toBe(evaluated);
    }
  });

  it('hears of a change with the next poll', async () => {
    const flag = await burgee.createFlag({ key: 'changing', filters: NOBODY });
    const options = { personalApiKey: burgee.personalApiKey, featureFlagsPollingInterval: 100 };
    await withClient(burgee, options, async (client) => {
      await client.waitForLocalEvaluationReady(5_000);
      const ask = () => client.getFeatureFlag('changing', 'u', { onlyEvaluateLocally: true });
      expect(await ask()).toBe(false);
      await burgee.api('PATCH', flag.path, { body: { filters: EVERYBODY } });
      await expect.poll(ask, { timeout: 5_000 }).toBe(true);
    });
    await burgee.api('PATCH', flag.path, { body: { deleted: true } });
  });

  it('agrees with the server on the rollout and the variant of a thousand persons', async () => {
    const variants = [
      { key: 'first-variant', rollout_percentage: 50 },
      { key: 'second-variant', rollout_percentage: 20 },
      { key: 'third-variant', rollout_percentage: 20 },
      { key: 'fourth-variant', rollout_percentage: 5 },
      { key: 'fifth-variant', rollout_percentage: 5 },
    ];
    const flag = await burgee.createFlag({
      key: 'multivariate-flag',
      filters: { groups: [{ properties: [], rollout_percentage: 55 }], multivariate: { variants } },
    });
    const options = { personalApiKey: burgee.personalApiKey, sendFeatureFlagEvent: false };
    await withClient(burgee, options, async (client) => {
      await client.waitForLocalEvaluationReady(5_000);
      const counts: Record<string, number> = {};
      for (let index = 0; index < 1_000; index += 1) {
        const distinctId = `distinct_id_${index}`;
        const local = await client.getFeatureFlag(flag.key, distinctId, {
          onlyEvaluateLocally: true,
        });
        const reply = await burgee.evaluate(
          { distinct_id: distinctId, flag_keys_to_evaluate: [flag.key] },
          { v: '1' },
        );
        expect(reply.body).toMatchObject({ featureFlags: { [flag.key]: local } });
        counts[String(local)] = (counts[String(local)] ?? 0) + 1;
      }
      expect(counts).toEqual({
        false: 444,
        'first-variant': 290,
        'second-variant': 110,
        'third-variant': 111,
        'fourth-variant': 24,
        'fifth-variant': 21,
      });
    });
    await burgee.api('PATCH', flag.path, { body: { deleted: true } });
  }, 60_000);
});

describe('posthog-node that captures', () => {
  it('stores what was queued when it shuts down, with the flags that were used', async () => {
    await withClient(burgee, { flushAt: 1_000, flushInterval: 60_000 }, async (client) => {
      const flags = await client.evaluateFlags('buyer', { personProperties: { plan: 'pro' } });
      expect(flags.isEnabled('pro-only')).toBe(true);
      expect(flags.getFlag('colour')).toBe('blue');
      client.capture({ distinctId: 'buyer', event: 'bought', properties: { total: 12.5 }, flags });
      client.identify({
        distinctId: 'buyer',
        properties: { email: 'buyer@example.com', $set_once: { first: 'seen' } },
      });
      client.alias({ distinctId: 'buyer', alias: 'anonymous-buyer' });
      client.groupIdentify({ groupType: 'company', groupKey: 'buyers', properties: { seats: 3 } });
      expect(await burgee.db('events').where({ distinct_id: 'buyer' })).toEqual([]);
    });

    const events = await burgee.db('events').where({ distinct_id: 'buyer' }).orderBy('timestamp');
    expect(events.map(({ event }) => event).toSorted()).toEqual([
      '$create_alias',
      '$feature_flag_called',
      '$feature_flag_called',
      '$identify',
      'bought',
    ]);
    const bought = events.find(({ event }) => event === 'bought');
    expect(bought?.project_id).toBe(1);
    expect(bought?.properties).toMatchObject({
      total: 12.5,
      $lib: 'posthog-node',
      '$feature/pro-only': true,
      '$feature/colour': 'blue',
      '$feature/off': false,
    });
    expect(bought?.properties.$active_feature_flags).toContain('colour');
    const called = events.filter(({ event }) => event === '$feature_flag_called');
    expect(called.map(({ properties }) => properties.$feature_flag).toSorted()).toEqual([
      'colour',
      'pro-only',
    ]);
  });

  it('stored the person with both ids and properties, and the group', async () => {
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
    expect(await burgee.db('group_types').select('group_type_index', 'group_type')).toEqual([
      { group_type_index: 0, group_type: 'company' },
    ]);
    expect(
      await burgee.db('groups').orderBy('group_key').select('group_key', 'properties'),
    ).toEqual([
      { group_key: 'acme', properties: { seats: 500 } },
      { group_key: 'buyers', properties: { seats: 3 } },
    ]);
  });

  it('attaches the flags to an event when it is asked to, and uses stored properties', async () => {
    await withClient(burgee, {}, async (client) => {
      client.identify({ distinctId: 'subscriber', properties: { plan: 'pro' } });
      await client.flush();
      expect(await client.getFeatureFlag('pro-only', 'subscriber')).toBe(true);
      client.capture({ distinctId: 'subscriber', event: 'read', sendFeatureFlags: true });
    });
    const [read] = await burgee.db('events').where({ event: 'read' });
    expect(read?.properties).toMatchObject({ '$feature/pro-only': true, '$feature/off': false });
  });

  it('left nothing in the log at error level', () => {
    expect(burgee.errors()).toEqual([]);
  });
});
