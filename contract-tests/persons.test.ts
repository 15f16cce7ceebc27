import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestOptions } from './http.ts';
import { pick, pickList, pickNumber, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const PERSONS = '/api/projects/1/persons/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

async function capture(...events: object[]): Promise<void> {
  const body = { api_key: burgee.projectApiKey, batch: events };
  const reply = await burgee.request('POST', '/batch/', { body });
  expect(reply.status, reply.text).toBe(200);
}

const find = (distinctId: string) =>
  burgee.api('GET', PERSONS, { query: { distinct_id: distinctId } });

const uuidOf = async (distinctId: string) =>
  pickText((await find(distinctId)).body, 'results', 0, 'uuid');

const drop = (uuid: string, options: RequestOptions = {}) =>
  burgee.api('DELETE', `${PERSONS}${uuid}/`, options);

const eventsOf = async (distinctIds: readonly string[]) =>
  (await burgee.db('events').whereIn('distinct_id', [...distinctIds])).length;

describe('GET persons/', () => {
  it('finds the person of a distinct id, with all of their ids', async () => {
    const timestamp = '2026-01-20T09:30:00.123Z';
    await capture(
      { event: 'seen', distinct_id: 'anonymous-1', timestamp },
      {
        event: '$identify',
        distinct_id: 'ann',
        properties: { $anon_distinct_id: 'anonymous-1', $set: { plan: 'pro', nested: [1, null] } },
      },
    );
    const reply = await find('anonymous-1');
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        next: null,
        results: [
          {
            id: expect.any(Number),
            uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
            distinct_ids: ['ann', 'anonymous-1'],
            properties: { plan: 'pro', nested: [1, null] },
            is_identified: true,
            created_at: timestamp,
          },
        ],
      },
    ]);
    expect((await find('ann')).body).toEqual(reply.body);
    const uuid = pickText(reply.body, 'results', 0, 'uuid');
    const shown = await burgee.api('GET', `${PERSONS}${uuid}/`);
    expect([shown.status, shown.body]).toEqual([200, pick(reply.body, 'results', 0)]);
  });

  it.each(['nobody', 'a\u0000b', "' OR 1=1 --", 'x'.repeat(1_000)])(
    'finds nobody for %j',
    async (distinctId) => {
      expect((await find(distinctId)).body).toEqual({ next: null, results: [] });
    },
  );

  it('finds a person by an id that is longer than what is stored of it', async () => {
    const long = 'long'.repeat(100);
    await capture({ event: 'seen', distinct_id: long.slice(0, 200) });
    expect(pickList((await find(long)).body, 'results')).toHaveLength(1);
  });

  it('lists everybody once, the last one first, whatever comes in meanwhile', async () => {
    const ids = Array.from({ length: 7 }, (_, index) => `paged-${index}`);
    await capture(...ids.map((distinct_id) => ({ event: 'seen', distinct_id })));
    const seen: string[] = [];
    let next: unknown = `${burgee.url}${PERSONS}?limit=3`;
    while (typeof next === 'string') {
      const page = await burgee.api('GET', next.slice(burgee.url.length));
      const results = pickList(page.body, 'results');
      expect(results.length).toBeLessThanOrEqual(3);
      seen.push(...results.map((person) => pickText(person, 'distinct_ids', 0)));
      await capture({ event: 'seen', distinct_id: `meanwhile-${seen.length}` });
      next = pick(page.body, 'next');
    }
    expect(seen.slice(0, 7)).toEqual(ids.toReversed());
    expect(seen).toContain('ann');
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.each([
    [{ distinct_id: '' }, 'distinct_id', 'blank'],
    [{ distinct_id: 'x'.repeat(1_001) }, 'distinct_id', 'max_length'],
    [{ limit: 'many' }, 'limit', 'invalid_input'],
    [{ limit: -1 }, 'limit', 'min_value'],
    [{ cursor: 'x' }, 'cursor', 'invalid_input'],
    [{ cursor: 0 }, 'cursor', 'min_value'],
  ])('refuses %j and names the parameter', async (query, attr, code) => {
    const reply = await burgee.api('GET', PERSONS, { query });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', code, attr });
  });
});

describe('GET persons/{uuid}/', () => {
  it.each(['00000000-0000-4000-8000-000000000000', '1', 'ann'])(
    'knows nobody as %s',
    async (uuid) => {
      const reply = await burgee.api('GET', `${PERSONS}${uuid}/`);
      expect([reply.status, pick(reply.body, 'detail')]).toEqual([404, 'Not found.']);
    },
  );
});

describe('DELETE persons/{uuid}/', () => {
  it('deletes the person with all that hangs on them, and keeps the events', async () => {
    const flag = await burgee.createFlag({
      ensure_experience_continuity: true,
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    const identify = { event: '$identify', properties: { $anon_distinct_id: 'gone-before' } };
    await capture({ ...identify, distinct_id: 'gone' }, { event: 'kept', distinct_id: 'gone' });
    const { body: found } = await find('gone');
    const personId = pickNumber(found, 'results', 0, 'id');
    const [cohort] = await burgee
      .db('cohorts')
      .insert({ project_id: 1, name: 'static', is_static: true })
      .returning('id');
    await burgee.db('cohort_members').insert({ cohort_id: cohort?.id ?? 0, person_id: personId });
    await burgee.evaluate({ distinct_id: 'gone', $anon_distinct_id: 'gone-before' });
    const hanging = ['person_distinct_ids', 'cohort_members', 'hash_key_overrides'] as const;
    const countHanging = () =>
      Promise.all(
        hanging.map(async (table) => {
          const rows = await burgee.db.table(table).where({ person_id: personId });
          return rows.length;
        }),
      );
    expect(await countHanging()).toEqual([2, 1, 1]);

    const reply = await drop(await uuidOf('gone'));
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(await countHanging()).toEqual([0, 0, 0]);
    expect((await find('gone-before')).body).toEqual({ next: null, results: [] });
    expect(await eventsOf(['gone'])).toBe(2);
    const values = await burgee.evaluate({ distinct_id: 'gone' });
    expect(pick(values.body, 'flags')).toHaveProperty([flag.key]);
  });

  it('deletes the events of every id on request, on every day, and no others', async () => {
    const properties = { $anon_distinct_id: 'erased-before' };
    await capture(
      { event: 'early', distinct_id: 'erased-before' },
      { event: '$identify', distinct_id: 'erased', properties },
      { event: 'late', distinct_id: 'erased' },
      { event: 'other', distinct_id: 'not-erased' },
    );
    // Another day's partition and another project's event of the same id.
    await burgee.db.raw(`
      CREATE TABLE events_20250101 PARTITION OF events FOR VALUES FROM ('2025-01-01') TO ('2025-01-02');
      INSERT INTO events (received_on, project_id, uuid, event, distinct_id, properties, timestamp, received_at)
      SELECT '2025-01-01', project_id, gen_random_uuid(), 'old', 'erased-before', '{}', now(), now()
      FROM unnest('{1, 2}'::int[]) AS project_id`);
    expect(await eventsOf(['erased', 'erased-before'])).toBe(5);
    const query = { delete_events: true };
    expect((await drop(await uuidOf('erased'), { query })).status).toBe(204);
    const left = await burgee.db('events').whereIn('distinct_id', ['erased', 'erased-before']);
    expect(left.map((event) => [event.project_id, event.event])).toEqual([[2, 'old']]);
    expect(await eventsOf(['not-erased'])).toBe(1);
  });

  it('does not bring an event back when a client sends it again', async () => {
    const event = { event: 'once', distinct_id: 'retried', uuid: crypto.randomUUID() };
    await capture(event);
    await drop(await uuidOf('retried'), { query: { delete_events: true } });
    await capture(event);
    expect(await eventsOf(['retried'])).toBe(0);
    expect((await find('retried')).body).toMatchObject({ results: [] });
  });

  it('is followed by a new person when the id is seen again', async () => {
    const set = (plan: object) => ({
      event: '$set',
      distinct_id: 'again',
      properties: { $set: plan },
    });
    await capture(set({ plan: 'pro', secret: 'x' }));
    const before = await uuidOf('again');
    await drop(before);
    await capture(set({ plan: 'free' }));
    const { body } = await find('again');
    expect(pickText(body, 'results', 0, 'uuid')).not.toBe(before);
    expect(pick(body, 'results', 0, 'properties')).toEqual({ plan: 'free' });
  });

  it('succeeds once for several at the same time, while events come in', async () => {
    await capture({ event: 'seen', distinct_id: 'raced' });
    const uuid = await uuidOf('raced');
    const query = { delete_events: true };
    const [replies] = await Promise.all([
      Promise.all(Array.from({ length: 4 }, () => drop(uuid, { query }))),
      ...Array.from({ length: 20 }, () => capture({ event: 'seen', distinct_id: 'raced' })),
    ]);
    const statuses = replies.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([204, 404, 404, 404]);
    // What came in afterwards belongs to a new person; nothing is left of the deleted one.
    const rows = await burgee.db('events').where({ distinct_id: 'raced' });
    const { body } = await find('raced');
    const now = new Set(rows.map((row) => row.person_id));
    expect([...now]).toEqual(rows.length === 0 ? [] : [pick(body, 'results', 0, 'id')]);
  });

  it('answers 404 for nobody and for somebody of another project', async () => {
    const other = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [other.id] });
    await capture({ event: 'seen', distinct_id: 'mine' });
    const uuid = await uuidOf('mine');
    const theirPath = `/api/projects/${other.id}/persons/${uuid}/`;
    expect((await burgee.request('GET', theirPath, { key })).status).toBe(404);
    const query = { delete_events: true };
    expect((await burgee.request('DELETE', theirPath, { key, query })).status).toBe(404);
    expect((await drop('00000000-0000-4000-8000-000000000000')).status).toBe(404);
    expect(await uuidOf('mine')).toBe(uuid);
    expect(await eventsOf(['mine'])).toBe(1);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
