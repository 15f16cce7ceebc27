import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const GROUPS = '/api/projects/1/groups/';
const TIME = '2026-01-20T09:30:00.000Z';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
  await describeGroups('company', ['acme', 'Beta', 'über', 'zeta'], { plan: 'pro' });
  await describeGroups('team', ['acme'], {});
});

afterAll(async () => {
  await burgee.stop();
});

async function describeGroups(type: string, keys: string[], set: object): Promise<void> {
  const batch = keys.map((key) => ({
    event: '$groupidentify',
    distinct_id: 'p',
    timestamp: TIME,
    properties: { $group_type: type, $group_key: key, $group_set: set },
  }));
  const body = { api_key: burgee.projectApiKey, batch };
  expect((await burgee.request('POST', '/batch/', { body })).status).toBe(200);
}

const list = (query: Record<string, string | number>) => burgee.api('GET', GROUPS, { query });
const keysOf = (body: unknown) =>
  pickList(body, 'results').map((each) => pickText(each, 'group_key'));

describe('GET groups/', () => {
  it('finds a group by its type and key', async () => {
    const reply = await list({ group_type_index: 0, group_key: 'acme' });
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        next: null,
        results: [
          {
            group_type_index: 0,
            group_key: 'acme',
            group_properties: { plan: 'pro' },
            created_at: TIME,
          },
        ],
      },
    ]);
    for (const group_key of ['nobody', 'a\u0000b']) {
      const none = await list({ group_type_index: 0, group_key });
      expect(none.body).toEqual({ next: null, results: [] });
    }
  });

  it('lists the groups of a type in pages', async () => {
    const all = await list({ group_type_index: 0 });
    expect(keysOf(all.body).toSorted()).toEqual(['Beta', 'acme', 'zeta', 'über']);
    const keys: string[] = [];
    let next: unknown = `${burgee.url}${GROUPS}?group_type_index=0&limit=1`;
    while (typeof next === 'string') {
      const page = await burgee.api('GET', next.slice(burgee.url.length));
      keys.push(...keysOf(page.body));
      next = pick(page.body, 'next');
    }
    expect(keys).toEqual(keysOf(all.body));
    expect(keysOf((await list({ group_type_index: 1 })).body)).toEqual(['acme']);
    expect(keysOf((await list({ group_type_index: 4 })).body)).toEqual([]);
  });

  it.each([
    [{}, 'group_type_index', 'required'],
    [{ group_type_index: 5 }, 'group_type_index', 'max_value'],
    [{ group_type_index: 'x' }, 'group_type_index', 'invalid_input'],
    [{ group_type_index: 0, group_key: '' }, 'group_key', 'blank'],
    [{ group_type_index: 0, cursor: 'x'.repeat(1_001) }, 'cursor', 'max_length'],
  ])('refuses %j and names the parameter', async (query, attr, code) => {
    const reply = await burgee.api('GET', GROUPS, { query });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', code, attr });
  });
});

describe('DELETE groups/', () => {
  const drop = (query: Record<string, string | number>) => burgee.api('DELETE', GROUPS, { query });

  it('deletes one group, which flags do not see any more', async () => {
    const properties = [{ key: 'plan', type: 'group', group_type_index: 0, value: ['pro'] }];
    const flag = await burgee.createFlag({
      filters: { aggregation_group_type_index: 0, groups: [{ properties }] },
    });
    const isOn = async () => {
      const { body } = await burgee.evaluate({ groups: { company: 'zeta' } });
      return pick(body, 'flags', flag.key, 'enabled');
    };
    expect(await isOn()).toBe(true);
    const reply = await drop({ group_type_index: 0, group_key: 'zeta' });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(await isOn()).toBe(false);
    expect((await drop({ group_type_index: 0, group_key: 'zeta' })).status).toBe(404);
    await describeGroups('company', ['zeta'], { plan: 'pro' });
    expect(await isOn()).toBe(true);
  });

  it('leaves groups of other types and other projects alone', async () => {
    const other = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [other.id] });
    const query = { group_type_index: 0, group_key: 'acme' };
    const path = `/api/projects/${other.id}/groups/`;
    expect((await burgee.request('DELETE', path, { key, query })).status).toBe(404);
    expect((await burgee.request('GET', path, { key, query })).body).toMatchObject({ results: [] });
    expect((await drop(query)).status).toBe(204);
    expect(keysOf((await list({ group_type_index: 1 })).body)).toEqual(['acme']);
  });

  it.each([
    [{ group_type_index: 0 }, 'group_key', 'required'],
    [{ group_key: 'acme' }, 'group_type_index', 'required'],
    [{ group_type_index: 0, group_key: '' }, 'group_key', 'blank'],
  ])('refuses %j and names the parameter', async (query, attr, code) => {
    const reply = await burgee.api('DELETE', GROUPS, { query });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', code, attr });
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
