import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList, pickNumber, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';
const NEW_CONDITION = { groups: [{ properties: [], rollout_percentage: 20 }] };

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

describe('a new flag', () => {
  it('has every documented field with its default', async () => {
    const reply = await burgee.api('POST', FLAGS, { body: { key: 'plain', version: 17 } });
    expect(reply.status).toBe(201);
    const user = {
      id: expect.any(Number),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      distinct_id: expect.any(String),
      first_name: expect.any(String),
      last_name: '',
      email: expect.stringContaining('@'),
      is_email_verified: null,
      hedgehog_config: null,
      role_at_organization: null,
    };
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/);
    expect(reply.body).toEqual({
      id: expect.any(Number),
      name: '',
      key: 'plain',
      filters: { groups: [] },
      deleted: false,
      active: true,
      created_by: user,
      created_at: time,
      updated_at: time,
      version: 1,
      last_modified_by: user,
      is_simple_flag: false,
      rollout_percentage: null,
      ensure_experience_continuity: false,
      experiment_set: '',
      surveys: {},
      features: {},
      rollback_conditions: null,
      performed_rollback: false,
      can_edit: true,
      tags: [],
      evaluation_tags: [],
      evaluation_contexts: [],
      usage_dashboard: expect.any(Number),
      analytics_dashboards: [],
      has_enriched_analytics: false,
      user_access_level: 'editor',
      creation_context: 'feature_flags',
      is_remote_configuration: false,
      has_encrypted_payloads: false,
      status: 'ACTIVE',
      evaluation_runtime: 'all',
      bucketing_identifier: 'distinct_id',
      last_called_at: null,
      _create_in_folder: null,
      _should_create_usage_dashboard: true,
    });
    expect(pick(reply.body, 'created_by')).toEqual(pick(reply.body, 'last_modified_by'));
  });

  it('keeps what it was created with, and reads the same one by one and in the list', async () => {
    const sent = {
      key: 'Full_flag-1',
      name: 'Everything set',
      filters: {
        groups: [{ properties: [], rollout_percentage: 33.3, variant: null, description: 'all' }],
        multivariate: null,
        payloads: { true: '{"a":1}' },
      },
      active: false,
      ensure_experience_continuity: true,
      rollback_conditions: [{ any: 'thing' }],
      performed_rollback: true,
      tags: ['b', 'a'],
      evaluation_tags: ['a'],
      has_enriched_analytics: true,
      creation_context: 'surveys',
      is_remote_configuration: true,
      evaluation_runtime: 'client',
      created_at: '2025-01-02T03:04:05Z',
      last_called_at: '2025-02-03T04:05:06.789Z',
      _create_in_folder: 'Folder/Inner',
      _should_create_usage_dashboard: false,
    };
    const created = await burgee.api('POST', FLAGS, { body: sent });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({
      ...sent,
      created_at: '2025-01-02T03:04:05.000Z',
      is_simple_flag: true,
      rollout_percentage: 33,
    });
    const id = pickNumber(created.body, 'id');
    expect((await burgee.api('GET', `${FLAGS}${id}/`)).body).toEqual(created.body);
    const listed = await burgee.api('GET', FLAGS, { query: { limit: 1000 } });
    const found = pickList(listed.body, 'results').find((each) => pick(each, 'id') === id);
    expect(found).toEqual(created.body);
  });

  it('takes the null and the empty choice for the default one', async () => {
    const fields = ['evaluation_runtime', 'bucketing_identifier'];
    for (const [index, empty] of [null, ''].entries()) {
      const body = {
        key: `empty-choice-${index}`,
        ...Object.fromEntries(fields.map((field) => [field, empty])),
        has_enriched_analytics: null,
        ensure_experience_continuity: null,
      };
      expect((await burgee.api('POST', FLAGS, { body })).body).toMatchObject({
        evaluation_runtime: 'all',
        bucketing_identifier: 'distinct_id',
        has_enriched_analytics: false,
        ensure_experience_continuity: false,
      });
    }
  });

  it('may take the key of a soft-deleted one, and the deleted one cannot come back then', async () => {
    const first = await burgee.createFlag({ key: 'reused' });
    await burgee.api('PATCH', first.path, { body: { deleted: true } });
    const second = await burgee.createFlag({ key: 'reused' });
    expect(second.id).not.toBe(first.id);
    const restored = await burgee.api('PATCH', first.path, { body: { deleted: false } });
    expect(restored.status).toBeLessThan(500);
    const active = await burgee.api('GET', FLAGS, { query: { limit: 1000 } });
    const keys = pickList(active.body, 'results').map((each) => pick(each, 'key'));
    expect(keys.filter((key) => key === 'reused')).toHaveLength(1);
  });
});

describe('a changed flag', () => {
  it('keeps what a PATCH leaves out, and merges filters by their top-level keys', async () => {
    const flag = await burgee.createFlag({
      name: 'before',
      tags: ['kept'],
      filters: { groups: [{ rollout_percentage: 10 }], payloads: { true: '1' } },
    });
    const reply = await burgee.api('PATCH', flag.path, {
      body: { name: 'after', filters: NEW_CONDITION },
    });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      name: 'after',
      tags: ['kept'],
      key: flag.key,
      version: 2,
      filters: { ...NEW_CONDITION, payloads: { true: '1' } },
    });
    const cleared = await burgee.api('PATCH', flag.path, { body: { filters: { groups: [] } } });
    expect(pick(cleared.body, 'filters', 'groups')).toEqual([]);
  });

  it('rises by one version with every update, even one that changes nothing', async () => {
    const flag = await burgee.createFlag();
    for (const version of [2, 3, 4]) {
      const reply = await burgee.api('PATCH', flag.path, { body: {} });
      expect(reply.body).toMatchObject({ version });
    }
    const all = Array.from({ length: 5 }, () => burgee.api('PATCH', flag.path, { body: {} }));
    const versions = (await Promise.all(all)).map(({ body }) => pickNumber(body, 'version'));
    expect(versions.toSorted((a, b) => a - b)).toEqual([5, 6, 7, 8, 9]);
  });

  it('needs its key in a PUT, and keeps what the PUT leaves out', async () => {
    const flag = await burgee.createFlag({ name: 'before', tags: ['kept'] });
    const refused = await burgee.api('PUT', flag.path, { body: { name: 'after' } });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: 'required', attr: 'key' });
    const body = { key: `${flag.key}-renamed`, name: 'after' };
    const reply = await burgee.api('PUT', flag.path, { body });
    expect(reply.body).toMatchObject({ ...body, tags: ['kept'], version: 2 });
  });

  it('names who changed it last', async () => {
    const flag = await burgee.createFlag();
    const { key, email } = await burgee.createKey({ scopes: ['feature_flag:write'] });
    const reply = await burgee.request('PATCH', flag.path, { key, body: { name: 'theirs' } });
    expect(pick(reply.body, 'last_modified_by', 'email')).toBe(email);
    expect(pick(reply.body, 'created_by', 'email')).toBe(pick(flag.body, 'created_by', 'email'));
  });

  it('is soft-deleted and restored by PATCH, and still read by its id in between', async () => {
    const flag = await burgee.createFlag();
    const deleted = await burgee.api('PATCH', flag.path, { body: { deleted: true } });
    expect(deleted.body).toMatchObject({ deleted: true, active: true, status: 'DELETED' });
    expect((await burgee.api('GET', flag.path)).body).toEqual(deleted.body);
    const listed = await burgee.api('GET', FLAGS, { query: { limit: 1000 } });
    const ids = pickList(listed.body, 'results').map((each) => pick(each, 'id'));
    expect(ids).not.toContain(flag.id);
    expect(pick((await burgee.evaluate()).body, 'flags', flag.key)).toBeUndefined();
    const restored = await burgee.api('PATCH', flag.path, { body: { deleted: false } });
    expect(restored.body).toMatchObject({ deleted: false, version: 3, status: 'ACTIVE' });
    expect(pick((await burgee.evaluate()).body, 'flags', flag.key, 'enabled')).toBe(true);
  });

  it('is left alone by a write that is refused', async () => {
    const flag = await burgee.createFlag();
    const body = { name: 'never', filters: { groups: [{ rollout_percentage: 120 }] } };
    expect((await burgee.api('PATCH', flag.path, { body })).status).toBe(400);
    expect((await burgee.api('GET', flag.path)).body).toEqual(flag.body);
    const activity = await burgee.api('GET', `${flag.path}activity/`);
    expect(pick(activity.body, 'total_count')).toBe(1);
  });
});

describe('the list of flags', () => {
  it('is told page by page, newest first, with links that lead on', async () => {
    const project = await burgee.createProject('Paged');
    const { key } = await burgee.createKey({ memberOf: [project.id] });
    const path = `/api/projects/${project.id}/feature_flags/`;
    for (let index = 0; index < 5; index += 1) {
      await burgee.request('POST', path, { key, body: { key: `page-${index}` } });
    }
    const keysOf = (body: unknown) => pickList(body, 'results').map((flag) => pick(flag, 'key'));
    const follow = (link: string) => burgee.request('GET', link.slice(burgee.url.length), { key });
    const first = await burgee.request('GET', `${path}?search=&limit=2`, { key });
    expect(first.body).toMatchObject({ count: 5, previous: null });
    expect(keysOf(first.body)).toEqual(['page-4', 'page-3']);
    const next = pickText(first.body, 'next');
    expect(next).toBe(`${burgee.url}${path}?limit=2&offset=2&search=`);
    const second = await follow(next);
    expect(keysOf(second.body)).toEqual(['page-2', 'page-1']);
    expect(pick(second.body, 'previous')).toBe(`${burgee.url}${path}?limit=2&search=`);
    const third = await follow(pickText(second.body, 'next'));
    expect(keysOf(third.body)).toEqual(['page-0']);
    expect(pick(third.body, 'next')).toBeNull();
    const behind = await burgee.request('GET', `${path}?offset=50`, { key });
    expect(behind.body).toMatchObject({ count: 5, next: null, results: [] });
  });

  it.each([
    ['limit=-1', 'limit', 'min_value'],
    ['limit=x', 'limit', 'invalid_input'],
    ['offset=-1', 'offset', 'min_value'],
    ['offset=1.5', 'offset', 'invalid_input'],
    ['limit=99999999999', 'limit', 'max_value'],
  ])('is refused for %s', async (query, attr, code) => {
    const reply = await burgee.api('GET', `${FLAGS}?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', attr, code });
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
