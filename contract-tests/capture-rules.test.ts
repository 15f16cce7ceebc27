import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventRow } from '../src/domain/database/tables.ts';
import type { HttpReply, RequestOptions } from './http.ts';
import { PROJECT_API_KEY, type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

let names = 0;
const uniqueName = () => {
  names += 1;
  return `rule-${names}`;
};

const HOUR_MS = 3_600_000;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function post(path: string, body: unknown, options: RequestOptions = {}): Promise<HttpReply> {
  return burgee.request('POST', path, { body, ...options });
}

async function eventNamed(event: string): Promise<EventRow> {
  const rows = await burgee.db('events').where({ event });
  expect(rows).toHaveLength(1);
  const [row] = rows;
  if (row === undefined) throw new Error('Nothing is stored.');
  return row;
}

/** Sends one event and returns it as it is stored. */
async function store(event: object, batch: object = {}): Promise<EventRow> {
  const name = uniqueName();
  const item = { event: name, distinct_id: 'u', ...event };
  const reply = await post('/batch/', { api_key: PROJECT_API_KEY, ...batch, batch: [item] });
  expect(reply.status, reply.text).toBe(200);
  return eventNamed(name);
}

async function personOf(distinctId: string) {
  return burgee
    .db('person_distinct_ids')
    .join('persons', 'persons.id', 'person_distinct_ids.person_id')
    .where({ distinct_id: distinctId })
    .first('persons.id', 'persons.properties');
}

async function apply(...batch: object[]): Promise<void> {
  const reply = await post('/batch/', { api_key: PROJECT_API_KEY, batch });
  expect(reply.status, reply.text).toBe(200);
}

/** A rule: the request, and the status and body of its reply. */
type Rule = readonly [string, string, unknown, number, string | RegExp];

const EVENT = { api_key: PROJECT_API_KEY, event: 'x', distinct_id: 'u' };
const OK = '{"status":"Ok"}';

describe('capture answers', () => {
  it.each<Rule>([
    ['an event', '/e/', EVENT, 200, OK],
    ['an event sent as a beacon', '/e/?beacon=1', EVENT, 204, ''],
    ['an empty batch', '/batch/', { ...EVENT, batch: [] }, 400, 'request holds no event'],
    ['no body', '/capture', undefined, 400, 'request missing data payload'],
    [
      'no token',
      '/capture',
      { event: 'x', distinct_id: 'u' },
      401,
      'event submitted without an api_key',
    ],
    [
      'tokens that differ',
      '/capture',
      [
        { event: 'a', api_key: 't1', distinct_id: 'u' },
        { event: 'b', api_key: 't2', distinct_id: 'u' },
      ],
      401,
      'batch submitted with inconsistent api_key values',
    ],
    [
      'a token of 65 characters',
      '/e',
      { ...EVENT, api_key: 't'.repeat(65) },
      401,
      'API key is not valid: too_long',
    ],
    [
      'a personal key as token',
      '/e',
      { ...EVENT, api_key: 'phx_1' },
      401,
      'API key is not valid: personal_api_key',
    ],
    [
      'a token beyond ASCII',
      '/e',
      { ...EVENT, api_key: 'é' },
      401,
      'API key is not valid: not_ascii',
    ],
    [
      'an empty event name',
      '/e',
      { ...EVENT, event: '' },
      400,
      'event submitted with an empty event name',
    ],
    [
      'no distinct id',
      '/e',
      { ...EVENT, distinct_id: undefined },
      400,
      'event submitted without a distinct_id',
    ],
    [
      'a malformed uuid',
      '/e',
      { ...EVENT, uuid: 'nope' },
      400,
      'failed to hydrate events from request: invalid uuid',
    ],
    [
      'a nameless body outside of /engage',
      '/capture',
      { token: PROJECT_API_KEY, $distinct_id: 'u', $set: { a: 1 } },
      400,
      'failed to hydrate events from request: non-engage request missing event name attribute',
    ],
    ['a removed event', '/e', { ...EVENT, event: '$performance_event' }, 200, OK],
  ])('%s', async (_name, path, body, status, text) => {
    const reply = await post(path, body);
    expect([reply.status, reply.text]).toEqual([status, text]);
  });

  it('a form whose data is base64', async () => {
    const data = Buffer.from(JSON.stringify({ ...EVENT, event: 'formed' })).toString('base64');
    const raw = `data=${encodeURIComponent(data)}`;
    const reply = await burgee.request('POST', '/e/', { raw, headers: FORM });
    expect([reply.status, reply.text]).toEqual([200, OK]);
    await eventNamed('formed');
  });

  it('gzip as text without any hint', async () => {
    const raw = gzipSync(JSON.stringify({ ...EVENT, event: 'zipped' }));
    const headers = { 'content-type': 'text/plain' };
    const reply = await burgee.request('POST', '/e/', { raw, headers });
    expect([reply.status, reply.text]).toEqual([200, OK]);
    await eventNamed('zipped');
  });
});

describe('capture stores', () => {
  it.each<readonly [string, object, string]>([
    ['of the properties', { distinct_id: undefined, properties: { distinct_id: 'p' } }, 'p'],
    ['that is a number', { distinct_id: 23 }, '23'],
    ['of 201 characters', { distinct_id: 'a'.repeat(201) }, 'a'.repeat(200)],
  ])('a distinct id %s', async (_name, event, expected) => {
    expect((await store(event)).distinct_id).toBe(expected);
  });

  it('a new uuid of version 7 for an empty one', async () => {
    expect((await store({ uuid: '' })).uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it('a time without the skew of the client', async () => {
    const row = await store(
      { timestamp: '2026-01-02T12:00:00Z' },
      { sent_at: '2026-01-02T12:00:10Z' },
    );
    expect(row.received_at.getTime() - row.timestamp.getTime()).toBe(10_000);
  });

  it('a time before receipt by the offset', async () => {
    const row = await store({ offset: 5_000 });
    expect(row.received_at.getTime() - row.timestamp.getTime()).toBe(5_000);
  });

  it('the time of receipt for a time too far ahead', async () => {
    const row = await store({ timestamp: new Date(Date.now() + 30 * HOUR_MS).toISOString() });
    expect(row.timestamp).toEqual(row.received_at);
  });

  it('$identify and its properties from a nameless body on /engage', async () => {
    const path = '/engage';
    const body = { token: PROJECT_API_KEY, $distinct_id: 'engaged', $set: { a: 1 } };
    expect((await post(path, body)).text).toBe(OK);
    expect((await eventNamed('$identify')).distinct_id).toBe('engaged');
    expect((await personOf('engaged'))?.properties).toEqual({ a: 1 });
  });

  it('$set, $set_once and $unset of a person in their order', async () => {
    await apply({ event: 'x', distinct_id: 'sets', $set: { a: 1 } });
    await apply({ event: 'x', distinct_id: 'sets', $set_once: { a: 2, b: 3 } });
    await apply({ event: 'x', distinct_id: 'sets', properties: { $unset: ['a'] } });
    expect((await personOf('sets'))?.properties).toEqual({ b: 3 });
  });

  it('one person for an alias, both ids and the properties of both', async () => {
    await apply({ event: 'x', distinct_id: 'u1', $set: { x: 1, y: 1 } });
    await apply({ event: 'x', distinct_id: 'anon1', $set: { y: 2, z: 2 } });
    await apply({ event: '$create_alias', distinct_id: 'u1', properties: { alias: 'anon1' } });
    const [person, alias] = [await personOf('u1'), await personOf('anon1')];
    expect(person?.properties).toEqual({ x: 1, y: 1, z: 2 });
    expect(alias?.id).toBe(person?.id);
  });

  it('two persons where an identified one would be absorbed by $identify', async () => {
    const identify = (distinctId: string, anonymous: string) => ({
      event: '$identify',
      distinct_id: distinctId,
      properties: { $anon_distinct_id: anonymous },
    });
    await apply(identify('first', 'first-anonymous'), { event: 'x', distinct_id: 'second' });
    await apply(identify('second', 'first'));
    expect((await personOf('first'))?.id).not.toBe((await personOf('second'))?.id);
  });

  it('what it refused to merge in its metrics', async () => {
    const alias = {
      event: '$create_alias',
      distinct_id: 'somebody',
      properties: { alias: 'null' },
    };
    await apply(alias, alias);
    const { text } = await burgee.request('GET', '/metrics');
    const name = 'burgee_refused_merges_total';
    expect(text).toContain(`${name}{project="1",reason="illegal_distinct_id"} 2`);
    expect(text).toContain(`${name}{project="1",reason="already_identified"} 1`);
  });

  it('the merged properties of a group, five kinds of groups, and the event of a sixth', async () => {
    const identify = (kind: string, set: object) => ({
      event: '$groupidentify',
      distinct_id: 'g',
      properties: { $group_type: kind, $group_key: 'acme', $group_set: set },
    });
    for (const set of [{ a: 1 }, { b: 2 }, { a: 3 }]) await apply(identify('company', set));
    expect(await burgee.db('groups').where({ group_key: 'acme' }).pluck('properties')).toEqual([
      { a: 3, b: 2 },
    ]);
    for (const kind of ['k1', 'k2', 'k3', 'k4', 'k5']) await apply(identify(kind, {}));
    expect(await burgee.db('group_types').pluck('group_type')).not.toContain('k5');
    const sixth = await store({ properties: { $groups: { k5: 'x', company: 'acme' } } });
    expect(sixth.properties).toMatchObject({ $group_0: 'acme' });
    expect(sixth.properties).not.toHaveProperty('$group_5');
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
