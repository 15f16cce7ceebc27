import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList, pickNumber, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const PROJECTS = '/api/projects/';
const FULL = { groups: [{ rollout_percentage: 100 }] };

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

/** A project of a new user's, made over HTTP. */
async function createOwn(body: object = {}) {
  const { key } = await burgee.createKey({ memberOf: [1] });
  const reply = await burgee.request('POST', PROJECTS, { key, body: { name: 'Own', ...body } });
  expect(reply.status, reply.text).toBe(201);
  const id = pickNumber(reply.body, 'id');
  return {
    key,
    id,
    path: `${PROJECTS}${id}/`,
    token: pickText(reply.body, 'api_token'),
    secret: pickText(reply.body, 'secret_api_token'),
    body: reply.body,
  };
}

const pollStatus = async (secret: string) =>
  (await burgee.request('GET', '/flags/definitions', { key: secret })).status;

describe('POST /api/projects/', () => {
  it('makes the caller a member at once, with a key for SDKs and one for servers', async () => {
    const own = await createOwn({ name: ' Shop ', timezone: 'Europe/Berlin' });
    expect(own.body).toEqual({
      id: own.id,
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Shop',
      api_token: expect.stringMatching(/^phc_/),
      secret_api_token: expect.stringMatching(/^phs_/),
      has_secret_api_token_backup: false,
      timezone: 'Europe/Berlin',
      flag_requests_per_month: null,
      created_at: expect.any(String),
    });
    const flags = `${own.path}feature_flags/`;
    const flag = { key: 'first', filters: FULL };
    expect((await burgee.request('POST', flags, { key: own.key, body: flag })).status).toBe(201);
    const values = await burgee.evaluate({ token: own.token });
    expect(pick(values.body, 'flags', 'first', 'enabled')).toBe(true);
    expect(await pollStatus(own.secret)).toBe(200);
  });

  it('keeps everybody else out', async () => {
    const own = await createOwn();
    expect((await burgee.api('GET', own.path)).status).toBe(403);
    expect(pickList((await burgee.api('GET', PROJECTS)).body, 'results')).toHaveLength(1);
  });

  it('is refused for a key that is limited to projects, which would not reach it', async () => {
    const { key } = await burgee.createKey({ projectIds: [1] });
    const reply = await burgee.request('POST', PROJECTS, { key, body: { name: 'Mine' } });
    expect(reply.status).toBe(403);
    expect(reply.body).toEqual({
      type: 'authentication_error',
      code: 'permission_denied',
      detail: 'An API key that is limited to projects cannot create a project.',
      attr: null,
    });
  });
});

describe.each([
  ['POST', PROJECTS],
  ['PATCH', `${PROJECTS}1/`],
])('%s %s', (method, path) => {
  it.each([
    [{ name: '' }, 'name', 'blank', 'This field may not be blank.'],
    [{ name: '  ' }, 'name', 'blank', 'This field may not be blank.'],
    [{ name: null }, 'name', 'null', 'This field may not be null.'],
    [
      { name: 'x'.repeat(201) },
      'name',
      'max_length',
      'Ensure this field has no more than 200 characters.',
    ],
    [
      { name: 'a\u0000' },
      'name',
      'null_characters_not_allowed',
      'Null characters are not allowed.',
    ],
    [
      { timezone: 'Mars/Olympus' },
      'timezone',
      'invalid_choice',
      '"Mars/Olympus" is not a valid choice.',
    ],
    [{ timezone: '+01:00' }, 'timezone', 'invalid_choice', '"+01:00" is not a valid choice.'],
    [{ timezone: null }, 'timezone', 'null', 'This field may not be null.'],
    [
      { flag_requests_per_month: -1 },
      'flag_requests_per_month',
      'min_value',
      'Ensure this value is greater than or equal to 0.',
    ],
    [
      { flag_requests_per_month: 1.5 },
      'flag_requests_per_month',
      'invalid_input',
      'A valid integer is required.',
    ],
    [
      { flag_requests_per_month: 2 ** 60 },
      'flag_requests_per_month',
      'max_value',
      'Ensure this value is less than or equal to 9007199254740991.',
    ],
  ])('refuses %j and names the field', async (body, attr, code, detail) => {
    const reply = await burgee.api(method, path, { body: { name: 'Refused', ...body } });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ type: 'validation_error', code, detail, attr });
    expect(await burgee.db('projects').where({ name: 'Refused' })).toEqual([]);
  });
});

describe('GET /api/projects/', () => {
  it('lists the projects that the key reaches, in pages', async () => {
    const others = [await burgee.createProject('Two'), await burgee.createProject('Three')];
    const ids = [1, ...others.map(({ id }) => id)];
    const { key } = await burgee.createKey({ memberOf: ids });
    const idsOf = (body: unknown) => pickList(body, 'results').map((each) => pick(each, 'id'));
    const all = await burgee.request('GET', PROJECTS, { key });
    expect(all.body).toMatchObject({ count: 3, next: null, previous: null });
    expect(idsOf(all.body)).toEqual(ids);
    expect(all.text).not.toContain('phs_');
    const first = await burgee.request('GET', `${PROJECTS}?limit=2`, { key });
    expect(idsOf(first.body)).toEqual(ids.slice(0, 2));
    const next = pickText(first.body, 'next').slice(burgee.url.length);
    const second = await burgee.request('GET', next, { key });
    expect(idsOf(second.body)).toEqual(ids.slice(2));
    expect(second.body).toMatchObject({ count: 3, next: null, previous: expect.any(String) });
    const limited = await burgee.createKey({ memberOf: ids, projectIds: ids.slice(1, 2) });
    const own = await burgee.request('GET', PROJECTS, { key: limited.key });
    expect(idsOf(own.body)).toEqual(ids.slice(1, 2));
  });
});

describe('GET /api/projects/{id}/', () => {
  it('shows one project, @current being the first that the key reaches', async () => {
    const own = await createOwn();
    const shown = await burgee.request('GET', own.path, { key: own.key });
    expect(shown.body).toEqual({ ...Object(own.body), secret_api_token: null });
    const current = await burgee.request('GET', `${PROJECTS}@current/`, { key: own.key });
    expect(pick(current.body, 'id')).toBe(1);
  });

  it.each(['999999', 'abc', '0', '99999999999999999999'])('answers %s with 404', async (id) => {
    const reply = await burgee.api('GET', `${PROJECTS}${id}/`);
    expect([reply.status, pick(reply.body, 'detail')]).toEqual([404, 'Project not found.']);
  });
});

describe('PATCH /api/projects/{id}/', () => {
  it('changes what is sent and keeps the rest', async () => {
    const own = await createOwn({ timezone: 'Asia/Tokyo', flag_requests_per_month: 5 });
    const send = (body: object) => burgee.request('PATCH', own.path, { key: own.key, body });
    expect((await send({ name: 'New name', id: 4, api_token: 'phc_mine' })).body).toEqual({
      ...Object(own.body),
      secret_api_token: null,
      name: 'New name',
    });
    expect((await send({ flag_requests_per_month: null })).body).toMatchObject({
      timezone: 'Asia/Tokyo',
      flag_requests_per_month: null,
    });
    expect((await send({})).body).toMatchObject({ name: 'New name' });
  });

  it('is heeded by evaluation when the reply is there: the quota', async () => {
    const own = await createOwn();
    const flag = { key: 'counted', filters: FULL };
    await burgee.request('POST', `${own.path}feature_flags/`, { key: own.key, body: flag });
    const values = async () => (await burgee.evaluate({ token: own.token })).body;
    expect(await values()).not.toHaveProperty('quotaLimited');
    for (const [quota, isLimited] of [
      [0, true],
      [null, false],
    ] as const) {
      const body = { flag_requests_per_month: quota };
      expect((await burgee.request('PATCH', own.path, { key: own.key, body })).status).toBe(200);
      expect('quotaLimited' in Object(await values())).toBe(isLimited);
    }
  });

  it('is heeded by evaluation when the reply is there: the time zone', async () => {
    const own = await createOwn();
    // Noon without a zone: in Kiritimati it is 14 hours before that instant in UTC.
    const value = '2026-01-20T12:00:00';
    const properties = [{ key: 'seen', type: 'person', operator: 'is_date_before', value }];
    const flag = { key: 'dated', filters: { groups: [{ properties, rollout_percentage: 100 }] } };
    await burgee.request('POST', `${own.path}feature_flags/`, { key: own.key, body: flag });
    const isOn = async () => {
      const person_properties = { seen: '2026-01-20T05:00:00Z' };
      const reply = await burgee.evaluate({ token: own.token, person_properties });
      return pick(reply.body, 'flags', 'dated', 'enabled');
    };
    expect(await isOn()).toBe(true);
    const body = { timezone: 'Pacific/Kiritimati' };
    expect((await burgee.request('PATCH', own.path, { key: own.key, body })).status).toBe(200);
    expect(await isOn()).toBe(false);
  });
});

describe('the secret key of a project', () => {
  it('is rotated without a gap, and the old one ends when it is deleted', async () => {
    const own = await createOwn();
    const send = (action: string) =>
      burgee.request('PATCH', `${own.path}${action}/`, { key: own.key });
    expect(await pollStatus(own.secret)).toBe(200);
    const rotated = await send('rotate_secret_token');
    expect(rotated.status).toBe(200);
    const secret = pickText(rotated.body, 'secret_api_token');
    expect(rotated.body).toMatchObject({ id: own.id, has_secret_api_token_backup: true });
    expect(secret).toMatch(/^phs_/);
    expect([await pollStatus(own.secret), await pollStatus(secret)]).toEqual([200, 200]);
    const ended = await send('delete_secret_token_backup');
    expect(ended.body).toMatchObject({
      secret_api_token: null,
      has_secret_api_token_backup: false,
    });
    expect([await pollStatus(own.secret), await pollStatus(secret)]).toEqual([401, 200]);
    expect((await send('delete_secret_token_backup')).status).toBe(200);
    const dump = JSON.stringify(await burgee.db('projects').where({ id: own.id }));
    expect(dump).not.toContain(secret);
  });

  it('ends at the second rotation after it', async () => {
    const own = await createOwn();
    for (const expected of [200, 401]) {
      const path = `${own.path}rotate_secret_token/`;
      expect((await burgee.request('PATCH', path, { key: own.key })).status).toBe(200);
      expect(await pollStatus(own.secret)).toBe(expected);
    }
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
