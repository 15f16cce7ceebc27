import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from './posthog-client.ts';
import { type RecordingProxy, startRecordingProxy } from './sdk/recording-proxy.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

/** How posthog-node is told which generation of capture to use. */
const MODE = 'POSTHOG_CAPTURE_MODE';
const EVENTS = 250;

let burgee: StartedBurgee;
let proxy: RecordingProxy;

beforeAll(async () => {
  burgee = await startBurgee();
  proxy = await startRecordingProxy(burgee.url);
});

afterAll(async () => {
  await proxy.stop();
  await burgee.stop();
});

afterEach(() => {
  delete process.env[MODE];
});

describe.each([
  ['v0', '/batch/'],
  ['v1', '/i/v1/analytics/events'],
])('posthog-node in capture mode %s', (mode, path) => {
  it('delivers everything once and whole', async () => {
    process.env[MODE] = mode;
    const user = `user-${mode}`;
    const errors: unknown[] = [];
    const before = proxy.requests().length;
    await withClient({ ...burgee, url: proxy.url }, { flushAt: 20 }, async (client) => {
      client.on('error', (error) => errors.push(error));
      for (let index = 0; index < EVENTS; index += 1) {
        client.capture({
          distinctId: user,
          event: `counted-${mode}`,
          properties: { index, text: 'ü€😀', nested: { list: [1, null, { deep: true }] } },
          groups: { company: 'acme' },
        });
      }
      client.identify({ distinctId: user, properties: { plan: 'pro', $set_once: { first: 1 } } });
      client.alias({ distinctId: user, alias: `anonymous-${mode}` });
      const group = { groupType: 'company', groupKey: mode, properties: { seats: 5 } };
      client.groupIdentify(group);
    });

    expect(errors).toEqual([]);
    const requests = proxy.requests().slice(before);
    expect(requests.map(({ status }) => status)).toEqual(requests.map(() => 200));
    expect(new Set(requests.map(({ path: used }) => used))).toEqual(new Set([path]));

    const rows = await burgee.db('events').where({ event: `counted-${mode}` });
    const indexes = rows.map(({ properties }) => Number(properties.index));
    expect(indexes.toSorted((a, b) => a - b)).toEqual([...Array(EVENTS).keys()]);
    expect(rows[0]).toMatchObject({
      distinct_id: user,
      properties: {
        text: 'ü€😀',
        nested: { list: [1, null, { deep: true }] },
        $lib: 'posthog-node',
        $lib_version: '5.70.0',
        $groups: { company: 'acme' },
        $group_0: 'acme',
      },
    });
    const persons = await burgee
      .db('person_distinct_ids')
      .join('persons', 'persons.id', 'person_distinct_ids.person_id')
      .whereIn('distinct_id', [user, `anonymous-${mode}`])
      .select('persons.id', 'properties', 'is_identified');
    expect(new Set(persons.map(({ id }) => id)).size).toBe(1);
    expect(persons).toHaveLength(2);
    expect(persons[0]).toMatchObject({
      is_identified: true,
      properties: { plan: 'pro', first: 1 },
    });
    const group = await burgee.db('groups').where({ group_key: mode }).first('properties');
    expect(group).toEqual({ properties: { seats: 5 } });
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
