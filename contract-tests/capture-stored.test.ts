import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpReply, RequestOptions } from './http.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const PATHS = ['/i/v0/e/', '/i/v0/e', '/e/', '/e', '/capture/', '/capture', '/batch/', '/batch'];

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

function send(path: string, body: unknown, options: RequestOptions = {}): Promise<HttpReply> {
  return burgee.request('POST', path, { body, ...options });
}

/** Sends one event with an id of its own and returns how it was stored. */
async function store(event: object, outer: object = {}, query = '') {
  const uuid = randomUUID();
  const item = { event: 'stored', distinct_id: 'u', uuid, ...event };
  const body = { api_key: burgee.projectApiKey, batch: [item], ...outer };
  const reply = await send(`/batch/${query}`, body);
  expect([reply.status, reply.text]).toEqual([200, '{"status":"Ok"}']);
  const [row] = await burgee.db('events').where({ uuid });
  if (row === undefined) throw new Error('The event is not stored although it was acknowledged.');
  return row;
}

async function personOf(distinctId: string) {
  return burgee
    .db('person_distinct_ids')
    .join('persons', 'persons.id', 'person_distinct_ids.person_id')
    .where({ distinct_id: distinctId })
    .first('persons.id', 'persons.properties', 'persons.is_identified');
}

describe('a captured event', () => {
  it.each(PATHS)('is stored before the reply to %s', async (path) => {
    const uuid = randomUUID();
    const body = { api_key: burgee.projectApiKey, event: 'x', distinct_id: 'u', uuid };
    const reply = await send(path, body);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({ status: 'Ok' });
    expect(await burgee.db('events').where({ uuid }).select('event', 'project_id')).toEqual([
      { event: 'x', project_id: 1 },
    ]);
    const beacon = await send(`${path}?beacon=1`, { ...body, uuid: randomUUID() });
    expect([beacon.status, beacon.text]).toEqual([204, '']);
  });

  it('keeps its name, ids, time and properties', async () => {
    const properties = { '$feature/x': true, nested: { list: [1, null, 'ü'] } };
    const row = await store({ properties, timestamp: '2026-01-20T09:30:00+01:00' });
    expect(row).toMatchObject({
      event: 'stored',
      distinct_id: 'u',
      properties,
      timestamp: new Date('2026-01-20T08:30:00Z'),
    });
  });

  it.each<[string, object, string]>([
    ['properties', { distinct_id: undefined, properties: { distinct_id: 'p' } }, 'p'],
    ['a number', { distinct_id: 23 }, '23'],
    ['a truth', { distinct_id: true }, 'true'],
    ['an object', { distinct_id: { b: 1, a: 2 } }, '{"a":2,"b":1}'],
    ['$distinct_id', { distinct_id: undefined, $distinct_id: 'd' }, 'd'],
    ['201 letters', { distinct_id: 'a'.repeat(201) }, 'a'.repeat(200)],
  ])('takes its distinct id from %s', async (_name, event, expected) => {
    expect((await store(event)).distinct_id).toBe(expected);
  });

  it('gets a uuid of version 7 when it brings none', async () => {
    for (const uuid of ['', undefined]) {
      const name = `without-uuid-${randomUUID()}`;
      const body = { api_key: burgee.projectApiKey, event: name, distinct_id: 'u', uuid };
      expect((await send('/e/', body)).status).toBe(200);
      const [row] = await burgee.db('events').where({ event: name });
      expect(row?.uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    }
  });

  it('is stored once, however often it is sent', async () => {
    const uuid = randomUUID();
    const item = { event: 'again', distinct_id: 'u', uuid };
    const body = { api_key: burgee.projectApiKey, batch: [item, item] };
    const replies = await Promise.all([1, 2, 3].map(() => send('/batch/', body)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await burgee.db('events').where({ uuid })).toHaveLength(1);
  });

  it('has its time corrected by the clock of the sender', async () => {
    const skewed = await store(
      { timestamp: '2020-01-01T12:00:00Z' },
      { sent_at: '2020-01-01T12:00:10Z' },
    );
    const offBy = skewed.received_at.getTime() - skewed.timestamp.getTime();
    expect(offBy).toBe(10_000);
    const early = await store({ offset: 5_000 });
    expect(early.received_at.getTime() - early.timestamp.getTime()).toBe(5_000);
    const future = await store({ timestamp: new Date(Date.now() + 30 * 3_600_000).toISOString() });
    expect(future.timestamp).toEqual(future.received_at);
    const query = `?_=${Date.UTC(2026, 0, 1, 12, 0, 10)}`;
    const queried = await store({ timestamp: '2026-01-01T12:00:00Z' }, {}, query);
    expect(queried.received_at.getTime() - queried.timestamp.getTime()).toBe(10_000);
    const naive = await store({ timestamp: '2026-01-02T03:04:05.123' });
    expect(naive.timestamp).toEqual(new Date('2026-01-02T03:04:05.123Z'));
  });
});

describe('what events say about persons and groups', () => {
  it('is applied in the order of arrival', async () => {
    await store({ distinct_id: 'ordered', $set: { a: 1 } });
    await store({ distinct_id: 'ordered', $set_once: { a: 2, b: 3 } });
    await store({ distinct_id: 'ordered', properties: { $unset: ['a'] } });
    expect((await personOf('ordered'))?.properties).toEqual({ b: 3 });
  });

  it('is applied in order within one batch', async () => {
    const at = (value: number) => ({ event: '$set', distinct_id: 'batched', $set: { value } });
    const body = { api_key: burgee.projectApiKey, batch: [at(1), at(2), at(3)] };
    expect((await send('/batch/', body)).status).toBe(200);
    expect((await personOf('batched'))?.properties).toEqual({ value: 3 });
  });

  it('joins two ids by an alias, the target’s properties going first', async () => {
    await store({ distinct_id: 'u1', $set: { x: 1, y: 1 } });
    await store({ distinct_id: 'anon1', $set: { y: 2, z: 2 } });
    await store({ event: '$create_alias', distinct_id: 'u1', properties: { alias: 'anon1' } });
    const [person, alias] = await Promise.all([personOf('u1'), personOf('anon1')]);
    expect(person?.properties).toEqual({ x: 1, y: 1, z: 2 });
    expect(alias?.id).toBe(person?.id);
    expect(person?.is_identified).toBe(true);
  });

  it('never joins a person who is identified into another who is known', async () => {
    await store({ distinct_id: 'u3' });
    await store({ event: '$identify', distinct_id: 'u2', properties: { $anon_distinct_id: 'a2' } });
    await store({ event: '$identify', distinct_id: 'u3', properties: { $anon_distinct_id: 'u2' } });
    expect((await personOf('u3'))?.id).not.toBe((await personOf('u2'))?.id);
  });

  it('merges the properties of a group, and stops at five kinds', async () => {
    const identify = (type: string, set: object) =>
      store({
        event: '$groupidentify',
        distinct_id: 'g',
        properties: { $group_type: type, $group_key: 'acme', $group_set: set },
      });
    await identify('kind-0', { a: 1 });
    await identify('kind-0', { b: 2 });
    await identify('kind-0', { a: 3 });
    const first = await burgee.db('groups').where({ group_type_index: 0 }).first('properties');
    expect(first).toEqual({ properties: { a: 3, b: 2 } });
    for (let kind = 1; kind <= 5; kind += 1) await identify(`kind-${kind}`, {});
    expect(await burgee.db('group_types').orderBy('group_type_index').pluck('group_type')).toEqual([
      'kind-0',
      'kind-1',
      'kind-2',
      'kind-3',
      'kind-4',
    ]);
    const { body } = await burgee.api('GET', '/flags/definitions');
    expect(body).toMatchObject({ group_type_mapping: { 0: 'kind-0', 4: 'kind-4' } });
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
