import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpReply, RequestOptions } from './http.ts';
import { pick, pickList, pickText } from './read.ts';
import { PROJECT_API_KEY, type StartedBurgee, startBurgee } from './start-burgee.ts';

const PATH = '/api/projects/1/events/';
const DAY = '2026-01-20T';

let burgee: StartedBurgee;
const uuids = Array.from({ length: 6 }, (): string => randomUUID());

beforeAll(async () => {
  burgee = await startBurgee();
  const events = [
    { event: 'first', distinct_id: 'ann', timestamp: `${DAY}01:00:00Z` },
    { event: 'second', distinct_id: 'bob', timestamp: `${DAY}02:00:00Z` },
    {
      event: '$feature_flag_called',
      distinct_id: 'ann',
      timestamp: `${DAY}03:00:00Z`,
      properties: { $feature_flag: 'new', $feature_flag_response: true },
    },
    {
      event: 'second',
      distinct_id: 'ann',
      timestamp: `${DAY}04:00:00Z`,
      properties: { '$feature/new': false, nested: { list: [1, 'ü'] } },
    },
    // At the same time, as the events of one batch often are.
    { event: 'same', distinct_id: 'eve', timestamp: `${DAY}05:00:00Z` },
    { event: 'same', distinct_id: 'eve', timestamp: `${DAY}05:00:00Z` },
  ].map((event, index) => ({ ...event, uuid: uuids[index] }));
  const body = { api_key: PROJECT_API_KEY, batch: events };
  expect((await burgee.request('POST', '/batch/', { body })).status).toBe(200);
});

afterAll(async () => {
  await burgee.stop();
});

function list(query: RequestOptions['query'] = {}): Promise<HttpReply> {
  return burgee.api('GET', PATH, { query });
}

function indexesOf(reply: HttpReply): number[] {
  return pickList(reply.body, 'results').map((event) => uuids.indexOf(pickText(event, 'id')));
}

describe('the list of events', () => {
  it('has the newest first, as they were captured', async () => {
    const reply = await list();
    expect(reply.status, reply.text).toBe(200);
    expect(indexesOf(reply).slice(2)).toEqual([3, 2, 1, 0]);
    expect(new Set(indexesOf(reply).slice(0, 2))).toEqual(new Set([4, 5]));
    expect(pick(reply.body, 'next')).toBeNull();
    expect(pick(reply.body, 'results', 2)).toEqual({
      id: uuids[3],
      event: 'second',
      distinct_id: 'ann',
      properties: { '$feature/new': false, nested: { list: [1, 'ü'] } },
      timestamp: '2026-01-20T04:00:00.000Z',
    });
  });

  it.each<readonly [string, Record<string, string | number>, number[]]>([
    ['a name', { event: 'second' }, [3, 1]],
    ['a distinct id', { distinct_id: 'ann' }, [3, 2, 0]],
    ['a flag that was reported or carried', { flag: 'new' }, [3, 2]],
    ['a flag of which nobody heard', { flag: 'old' }, []],
    ['a name that cannot be', { event: 'a\0b' }, []],
    ['what is later', { after: `${DAY}02:00:00Z`, before: `${DAY}05:00:00Z` }, [3, 2]],
    ['what is earlier', { before: `${DAY}02:00:00` }, [0]],
    [
      'all of these',
      { event: 'second', distinct_id: 'ann', flag: 'new', after: '2026-01-20' },
      [3],
    ],
  ])('can be narrowed to %s', async (_name, query, expected) => {
    expect(indexesOf(await list(query))).toEqual(expected);
  });

  it('leads from page to page, each event once, whatever comes in meanwhile', async () => {
    const seen: number[] = [];
    let reply = await list({ limit: 1, before: `${DAY}06:00:00Z` });
    for (let page = 1; page <= uuids.length; page += 1) {
      seen.push(...indexesOf(reply));
      const late = { event: 'late', distinct_id: 'eve', timestamp: `${DAY}05:30:00Z` };
      const body = { api_key: PROJECT_API_KEY, ...late };
      await burgee.request('POST', '/e/', { body });
      const next = pick(reply.body, 'next');
      if (next === null) break;
      const url = new URL(String(next));
      expect(url.searchParams.get('limit')).toBe('1');
      reply = await burgee.api('GET', url.pathname + url.search);
    }
    expect(seen.toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(seen.slice(2)).toEqual([3, 2, 1, 0]);
  });

  it.each([
    ['after', 'sometime'],
    ['before', '2026-13-01'],
    ['cursor', 'next'],
    ['cursor', '2026-01-20T01:00:00.000Z_------------------------------------'],
    ['limit', 'many'],
  ])('refuses %s=%s with the field named', async (name, value) => {
    const reply = await list({ [name]: value });
    expect([reply.status, pick(reply.body, 'attr')]).toEqual([400, name]);
  });

  it('has nothing of another project, and needs its scope', async () => {
    const other = await burgee.createProject('Other');
    const theirs = await burgee.createKey({ memberOf: [other.id], scopes: ['event:read'] });
    const reply = await burgee.api('GET', `/api/projects/${other.id}/events/`, { key: theirs.key });
    expect([reply.status, pick(reply.body, 'results')]).toEqual([200, []]);
    expect((await burgee.api('GET', PATH, { key: theirs.key })).status).toBe(403);
    const blind = await burgee.createKey({ scopes: ['feature_flag:write'] });
    expect((await burgee.api('GET', PATH, { key: blind.key })).status).toBe(403);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
