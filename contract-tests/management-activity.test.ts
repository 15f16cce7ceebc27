import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

function changed(field: string, before: unknown, after: unknown, action = 'changed') {
  return { type: 'FeatureFlag', action, field, before, after };
}

describe('the activity log', () => {
  it('has an entry for every change, with the values before and after', async () => {
    const flag = await burgee.createFlag({ key: 'logged', filters: { groups: [{}] } });
    const { key, email } = await burgee.createKey();
    const patch = (body: object) => burgee.request('PATCH', flag.path, { key, body });
    const filters = { groups: [{ rollout_percentage: 50 }] };
    await patch({ name: 'named', active: false, filters });
    await patch({ name: '', tags: ['a'] });
    await patch({ deleted: true });
    await patch({ deleted: false });
    await patch({});

    const reply = await burgee.api('GET', `${flag.path}activity/`);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ total_count: 6, next: null, previous: null });
    const entries = pickList(reply.body, 'results');
    expect(entries.map((entry) => pick(entry, 'activity'))).toEqual([
      'updated',
      'restored',
      'deleted',
      'updated',
      'updated',
      'created',
    ]);
    expect(entries.map((entry) => pickList(entry, 'detail', 'changes'))).toEqual([
      [changed('version', 5, 6)],
      [changed('deleted', true, false), changed('version', 4, 5)],
      [changed('deleted', false, true), changed('version', 3, 4)],
      [
        changed('name', 'named', '', 'deleted'),
        changed('version', 2, 3),
        changed('tags', [], ['a'], 'created'),
      ],
      [
        changed('name', '', 'named', 'created'),
        changed('filters', pick(flag.body, 'filters'), filters),
        changed('active', true, false),
        changed('version', 1, 2),
      ],
      [],
    ]);
    expect(entries[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user: email,
      activity: 'updated',
      scope: 'FeatureFlag',
      item_id: String(flag.id),
      detail: {
        id: String(flag.id),
        changes: expect.any(Array),
        merge: null,
        trigger: null,
        name: 'logged',
        short_id: null,
        type: null,
      },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  });

  it('names the key that the flag had after the change', async () => {
    const flag = await burgee.createFlag({ key: 'old-name' });
    await burgee.api('PATCH', flag.path, { body: { key: 'new-name' } });
    const reply = await burgee.api('GET', `${flag.path}activity/`);
    const names = pickList(reply.body, 'results').map((entry) => pick(entry, 'detail', 'name'));
    expect(names).toEqual(['new-name', 'old-name']);
  });

  it('leaves out what is written beside the definition', async () => {
    const flag = await burgee.createFlag();
    const body = {
      created_at: '2026-01-02T03:04:05Z',
      last_called_at: '2026-01-03T00:00:00Z',
      _create_in_folder: 'Elsewhere',
      _should_create_usage_dashboard: false,
    };
    await burgee.api('PATCH', flag.path, { body });
    const reply = await burgee.api('GET', `${flag.path}activity/?limit=1`);
    const changes = pickList(reply.body, 'results', 0, 'detail', 'changes');
    expect(changes).toEqual([changed('version', 1, 2)]);
  });

  it('is told page by page, of one flag and of the project', async () => {
    const flag = await burgee.createFlag();
    for (let index = 0; index < 11; index += 1) await burgee.api('PATCH', flag.path, { body: {} });
    const first = await burgee.api('GET', `${flag.path}activity/`);
    expect(pickList(first.body, 'results')).toHaveLength(10);
    expect(first.body).toMatchObject({ total_count: 12, previous: null });
    const next = pickText(first.body, 'next');
    expect(new URL(next).pathname).toBe(`${flag.path}activity/`);
    const second = await burgee.api('GET', next.slice(burgee.url.length));
    expect(pickList(second.body, 'results')).toHaveLength(2);
    expect(pick(second.body, 'next')).toBeNull();
    expect(pickText(second.body, 'previous')).toContain('page=1');
    const behind = await burgee.api('GET', `${flag.path}activity/?page=9`);
    expect(behind.body).toMatchObject({ results: [], next: null, total_count: 12 });

    const other = await burgee.createFlag();
    const all = await burgee.api('GET', `${FLAGS}activity/?limit=2`);
    const items = pickList(all.body, 'results').map((entry) => pick(entry, 'item_id'));
    expect(items).toEqual([String(other.id), String(flag.id)]);
  });

  it.each([
    ['limit=0', 'limit', 'min_value', 'Ensure this value is greater than or equal to 1.'],
    ['page=0', 'page', 'min_value', 'Ensure this value is greater than or equal to 1.'],
    ['limit=x', 'limit', 'invalid_input', 'A valid integer is required.'],
    ['page=1.5', 'page', 'invalid_input', 'A valid integer is required.'],
  ])('is refused for %s', async (query, attr, code, detail) => {
    const reply = await burgee.api('GET', `${FLAGS}activity/?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ type: 'validation_error', attr, code, detail });
  });

  it('answers the last page that a number can name', async () => {
    const reply = await burgee.api('GET', `${FLAGS}activity/?page=2147483647&limit=1000`);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ results: [] });
  });
});

describe('flag definitions', () => {
  it('hold inactive flags, leave deleted ones out, and are in the order of their keys', async () => {
    const project = await burgee.createProject('Defined');
    const { key } = await burgee.createKey({ memberOf: [project.id] });
    const path = `/api/projects/${project.id}/feature_flags/`;
    const create = (body: object) => burgee.request('POST', path, { key, body });
    await create({ key: 'b', active: false, tags: ['web'], evaluation_tags: ['web'] });
    const gone = await create({ key: 'c' });
    await create({ key: 'a', filters: { groups: [{ rollout_percentage: 5 }] } });
    const goneId = pick(gone.body, 'id');
    await burgee.request('PATCH', `${path}${goneId}/`, { key, body: { deleted: true } });
    const reply = await burgee.request('GET', `${path}local_evaluation/?send_cohorts`, { key });
    const common = {
      id: expect.any(Number),
      team_id: project.id,
      name: '',
      deleted: false,
      ensure_experience_continuity: false,
      has_encrypted_payloads: false,
      version: 1,
      evaluation_runtime: 'all',
      bucketing_identifier: 'distinct_id',
    };
    expect(reply.body).toEqual({
      flags: [
        {
          ...common,
          key: 'a',
          filters: { groups: [{ rollout_percentage: 5 }] },
          active: true,
          evaluation_tags: [],
          evaluation_contexts: [],
        },
        {
          ...common,
          key: 'b',
          filters: { groups: [] },
          active: false,
          evaluation_tags: ['web'],
          evaluation_contexts: ['web'],
        },
      ],
      group_type_mapping: {},
      cohorts: {},
    });
  });

  it('are the same on every path, and answer 304 to their ETag in any of its forms', async () => {
    const paths = [
      '/flags/definitions',
      '/flags/definitions/',
      `/flags/definitions?token=${burgee.projectApiKey}&send_cohorts`,
      '/api/feature_flag/local_evaluation',
      `${FLAGS}local_evaluation/`,
      '/api/projects/@current/feature_flags/local_evaluation',
    ];
    const replies = await Promise.all(paths.map((path) => burgee.api('GET', path)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    const etag = replies[0]?.headers.etag ?? '';
    expect(etag).toMatch(/^W\/"[0-9a-f]{16}"$/);
    const bare = etag.slice(3, -1);
    for (const held of [etag, `"${bare}"`, bare, `"other", ${etag}`, '*']) {
      const reply = await burgee.api('GET', '/flags/definitions', {
        headers: { 'if-none-match': held },
      });
      expect([held, reply.status, reply.text]).toEqual([held, 304, '']);
      expect(reply.headers.etag).toBe(etag);
      expect(reply.headers['cache-control']).toBe('private, must-revalidate');
    }
    await burgee.createFlag();
    const headers = { 'if-none-match': etag };
    const changedReply = await burgee.api('GET', '/flags/definitions', { headers });
    expect(changedReply.status).toBe(200);
    expect(changedReply.headers.etag).not.toBe(etag);
  });

  it.each(['perhaps', '2'])('are refused for send_cohorts=%s', async (value) => {
    const reply = await burgee.api('GET', '/flags/definitions', { query: { send_cohorts: value } });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      type: 'validation_error',
      code: 'invalid_input',
      detail: 'Must be a valid boolean.',
      attr: 'send_cohorts',
    });
  });

  it('answer HEAD with the headers alone', async () => {
    const reply = await burgee.api('HEAD', '/flags/definitions');
    expect([reply.status, reply.text]).toEqual([200, '']);
    expect(reply.headers.etag).toMatch(/^W\//);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
