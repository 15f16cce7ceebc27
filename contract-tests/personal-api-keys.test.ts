import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestProject } from './identities.ts';
import { pick, pickList, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const KEYS = '/api/personal_api_keys/';
const ME = '/api/users/@me/';
const MAKER = ['personal_api_key:write', 'feature_flag:write', 'cohort:read'];

let burgee: StartedBurgee;
let other: TestProject;

beforeAll(async () => {
  burgee = await startBurgee();
  other = await burgee.createProject('The others');
});

afterAll(async () => {
  await burgee.stop();
});

const post = (key: string, body: object) => burgee.request('POST', KEYS, { key, body });

async function create(key: string, body: object = {}) {
  const reply = await post(key, { label: 'A key', scopes: ['*'], ...body });
  expect(reply.status, reply.text).toBe(201);
  const id = pickText(reply.body, 'id');
  const secret = pickText(reply.body, 'value');
  return { id, secret, path: `${KEYS}${id}/`, body: reply.body };
}

function denied(detail: string, attr: string) {
  return { type: 'authentication_error', code: 'permission_denied', detail, attr };
}

describe('POST /api/personal_api_keys/', () => {
  it('shows the secret once, and the key works at once', async () => {
    const { key, email } = await burgee.createKey();
    const made = await create(key, { label: ' CI ', scopes: ['user:read', 'user:read'] });
    expect(made.body).toEqual({
      id: made.id,
      label: 'CI',
      value: expect.stringMatching(/^phx_/),
      mask_value: `phx_...${made.secret.slice(-4)}`,
      created_at: expect.any(String),
      user_id: expect.any(Number),
      scopes: ['user:read'],
      scoped_teams: null,
    });
    const me = await burgee.request('GET', ME, { key: made.secret });
    expect(me.body).toMatchObject({ email, id: pick(made.body, 'user_id') });
    const shown = await burgee.request('GET', made.path, { key });
    expect(shown.body).toEqual({ ...Object(made.body), value: null });
    const list = await burgee.request('GET', KEYS, { key });
    expect(list.text).not.toContain(made.secret);
    expect(JSON.stringify(await burgee.db('personal_api_keys'))).not.toContain(made.secret);
  });

  it.each([
    ['a scope that it holds', ['feature_flag:write']],
    ['the right to read what it may write', ['feature_flag:read', 'personal_api_key:read']],
    ['all that it holds', MAKER],
  ])('hands on %s', async (_what, scopes) => {
    const { key } = await burgee.createKey({ scopes: MAKER });
    expect((await create(key, { scopes })).body).toMatchObject({ scopes });
  });

  it.each(['*', 'cohort:write', 'project:read', 'activity_log:read'])(
    'does not hand on %s, which it does not hold',
    async (scope) => {
      const { key } = await burgee.createKey({ scopes: MAKER });
      const reply = await post(key, { label: 'x', scopes: ['feature_flag:read', scope] });
      expect(reply.status).toBe(403);
      expect(reply.body).toEqual(
        denied(
          `An API key can only create keys with scopes that it holds itself, which '${scope}' is not.`,
          'scopes',
        ),
      );
    },
  );

  it('takes over the limits of the key that creates it', async () => {
    const { key } = await burgee.createKey({ memberOf: [1, other.id], projectIds: [1] });
    expect((await create(key)).body).toMatchObject({ scoped_teams: [1] });
    for (const scoped_teams of [null, []]) {
      const reply = await post(key, { label: 'x', scopes: ['*'], scoped_teams });
      expect([reply.status, reply.body]).toEqual([
        403,
        denied(
          'An API key that is limited to projects can only create keys that are limited to them.',
          'scoped_teams',
        ),
      ]);
    }
    const reply = await post(key, { label: 'x', scopes: ['*'], scoped_teams: [1, other.id] });
    expect([reply.status, reply.body]).toEqual([
      403,
      denied(
        `API key does not have access to the requested project: ID ${other.id}.`,
        'scoped_teams',
      ),
    ]);
  });

  it('limits a key to projects of the user, and not to another’s or an unknown one', async () => {
    const { key } = await burgee.createKey({ memberOf: [1, other.id] });
    const made = await create(key, { scoped_teams: [other.id] });
    expect(made.body).toMatchObject({ scoped_teams: [other.id] });
    const read = (id: number) =>
      burgee.request('GET', `/api/projects/${id}/feature_flags/`, { key: made.secret });
    expect([(await read(1)).status, (await read(other.id)).status]).toEqual([403, 200]);
    for (const id of [other.id, 999_999]) {
      const reply = await burgee.api('POST', KEYS, {
        body: { label: 'x', scopes: ['*'], scoped_teams: [id] },
      });
      expect([reply.status, pick(reply.body, 'attr')]).toEqual([403, 'scoped_teams']);
    }
    expect((await create(key, { scoped_teams: [] })).body).toMatchObject({ scoped_teams: null });
  });

  it.each([
    [{ label: '' }, 'label', 'blank', 'This field may not be blank.'],
    [{ label: ' ' }, 'label', 'blank', 'This field may not be blank.'],
    [{ label: undefined }, 'label', 'required', 'This field is required.'],
    [
      { label: 'x'.repeat(201) },
      'label',
      'max_length',
      'Ensure this field has no more than 200 characters.',
    ],
    [
      { label: '\u0000' },
      'label',
      'null_characters_not_allowed',
      'Null characters are not allowed.',
    ],
    [{ scopes: undefined }, 'scopes', 'required', 'This field is required.'],
    [{ scopes: [] }, 'scopes', 'required', 'Name at least one scope.'],
    [{ scopes: ['root'] }, 'scopes__0', 'invalid_choice', '"root" is not a valid choice.'],
    [
      { scopes: 'user:read' },
      'scopes',
      'not_a_list',
      'Expected a list of items but got type "str".',
    ],
    [{ scopes: [5] }, 'scopes__0', 'invalid_input', 'Not a valid string.'],
    [{ scoped_teams: ['1'] }, 'scoped_teams__0', 'invalid_input', 'A valid integer is required.'],
    [
      { scoped_teams: [0] },
      'scoped_teams__0',
      'min_value',
      'Ensure this value is greater than or equal to 1.',
    ],
  ])('refuses %j and names the field', async (change, attr, code, detail) => {
    const reply = await post(burgee.personalApiKey, { label: 'x', scopes: ['*'], ...change });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ type: 'validation_error', code, detail, attr });
  });

  it('ends at a hundred living keys, also for many at once', async () => {
    const { key } = await burgee.createKey();
    const body = { label: 'x', scopes: ['user:read'] };
    const replies = await Promise.all(Array.from({ length: 105 }, () => post(key, body)));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(99);
    const refused = replies.filter(({ status }) => status === 400);
    expect(refused).toHaveLength(6);
    expect(refused[0]?.body).toEqual({
      type: 'validation_error',
      code: 'invalid_input',
      detail:
        'You can only have 100 personal API keys. ' +
        'Remove an existing key before creating a new one.',
      attr: null,
    });
    const id = pickText((await burgee.request('GET', KEYS, { key })).body, 1, 'id');
    expect((await burgee.request('DELETE', `${KEYS}${id}/`, { key })).status).toBe(204);
    expect((await post(key, body)).status).toBe(201);
  });
});

describe('GET /api/personal_api_keys/', () => {
  it('lists the living keys of the caller alone, oldest first', async () => {
    const { key, id } = await burgee.createKey();
    const labels = ['first', 'second', 'third'];
    for (const label of labels) await create(key, { label });
    const list = await burgee.request('GET', KEYS, { key });
    expect(pickList(list.body).map((each) => pick(each, 'label'))).toEqual([
      expect.stringMatching(/^key /),
      ...labels,
    ]);
    expect(pick(list.body, 0, 'id')).toBe(id);
    expect(pickList(list.body).map((each) => pick(each, 'value'))).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

describe('PATCH /api/personal_api_keys/{id}/', () => {
  it('changes the label and nothing else', async () => {
    const made = await create(burgee.personalApiKey);
    const changed = await burgee.api('PATCH', made.path, { body: { label: ' Deploy ' } });
    expect(changed.body).toEqual({ ...Object(made.body), label: 'Deploy', value: null });
    const same = await burgee.api('PATCH', made.path, { body: {} });
    expect(same.body).toEqual(changed.body);
  });

  it.each([{ scopes: ['user:read'] }, { scoped_teams: [1] }, { scoped_teams: null }])(
    'refuses %j instead of passing over it',
    async (change) => {
      const made = await create(burgee.personalApiKey);
      const body = { label: 'Not changed', ...change };
      const reply = await burgee.api('PATCH', made.path, { body });
      expect(reply.status).toBe(400);
      expect(reply.body).toMatchObject({
        detail: 'This cannot be changed. Create another key and revoke this one.',
        attr: Object.keys(change)[0],
      });
      const kept = await burgee.api('GET', made.path);
      expect(kept.body).toEqual({ ...Object(made.body), value: null });
    },
  );
});

describe('DELETE /api/personal_api_keys/{id}/', () => {
  it('ends the key before the reply, and it is gone', async () => {
    const made = await create(burgee.personalApiKey);
    const ask = async () => (await burgee.request('GET', ME, { key: made.secret })).status;
    expect(await ask()).toBe(200);
    const reply = await burgee.api('DELETE', made.path);
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(await ask()).toBe(401);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const options = method === 'PATCH' ? { body: { label: 'x' } } : {};
      expect((await burgee.api(method, made.path, options)).status).toBe(404);
    }
    expect((await burgee.api('GET', KEYS)).text).not.toContain(made.id);
  });

  it('lets a key end itself', async () => {
    const made = await create(burgee.personalApiKey);
    const end = () => burgee.request('DELETE', made.path, { key: made.secret });
    expect([(await end()).status, (await end()).status]).toEqual([204, 401]);
  });
});

describe('a key of somebody else', () => {
  it.each(['GET', 'PATCH', 'DELETE'])('does not exist for %s', async (method) => {
    const theirs = await burgee.createKey();
    const options = method === 'PATCH' ? { body: { label: 'stolen' } } : {};
    for (const id of [theirs.id, '00000000-0000-4000-8000-000000000000', 'not-an-id']) {
      const reply = await burgee.api(method, `${KEYS}${id}/`, options);
      expect([reply.status, pick(reply.body, 'detail')]).toEqual([404, 'Not found.']);
    }
    expect((await burgee.request('GET', ME, { key: theirs.key })).status).toBe(200);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
