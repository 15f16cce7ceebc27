import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const ME = '/api/users/@me/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

describe('GET /api/users/@me/', () => {
  it('tells who the caller is and which project @current stands for', async () => {
    const { key, email } = await burgee.createKey();
    const reply = await burgee.request('GET', ME, { key });
    const project = {
      id: 1,
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Default project',
      api_token: burgee.projectApiKey,
      timezone: 'UTC',
    };
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        id: expect.any(Number),
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        distinct_id: expect.any(String),
        first_name: 'Test',
        last_name: '',
        email,
        is_email_verified: null,
        hedgehog_config: null,
        role_at_organization: null,
        date_joined: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        organization: null,
        team: project,
        projects: [project],
      },
    ]);
    expect((await burgee.request('GET', ME.slice(0, -1), { key })).body).toEqual(reply.body);
  });

  it('shows the projects that the key reaches and no other', async () => {
    const other = await burgee.createProject('The others');
    const limited = await burgee.createKey({ memberOf: [1, other.id], projectIds: [other.id] });
    const { body } = await burgee.request('GET', ME, { key: limited.key });
    expect([pick(body, 'team', 'id'), pick(body, 'projects', 0, 'id')]).toEqual([
      other.id,
      other.id,
    ]);
    expect(pick(body, 'projects', 1)).toBeUndefined();
    expect(JSON.stringify(body)).not.toContain(burgee.projectApiKey);
  });

  it('answers a caller whose key reaches no project', async () => {
    const other = await burgee.createProject('Out of reach');
    const { key } = await burgee.createKey({ memberOf: [1], projectIds: [other.id] });
    const reply = await burgee.request('GET', ME, { key });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ team: null, projects: [] });
  });

  it('does not look at a token, because it belongs to no project', async () => {
    const reply = await burgee.api('GET', ME, { query: { token: 'phc_unknown' } });
    expect(reply.status).toBe(200);
  });

  it('is refused with a project secret key', async () => {
    const reply = await burgee.request('GET', ME, { key: burgee.projectSecretKey });
    expect(reply.status).toBe(401);
  });
});

describe('PATCH /api/users/@me/', () => {
  it('changes the names that are sent, for that user alone', async () => {
    const { key, email } = await burgee.createKey();
    const body = { last_name: ' Lovelace ', email: 'other@example.com', id: 7 };
    const changed = await burgee.request('PATCH', ME, { key, body });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({ first_name: 'Test', last_name: 'Lovelace', email });
    expect((await burgee.request('GET', ME, { key })).body).toEqual(changed.body);
    expect(pick((await burgee.api('GET', ME)).body, 'last_name')).toBe('');
  });

  it('changes nothing when nothing is sent, and can empty a name', async () => {
    const { key } = await burgee.createKey();
    const untouched = await burgee.request('PATCH', ME, { key, body: {} });
    expect(untouched.body).toMatchObject({ first_name: 'Test' });
    const emptied = await burgee.request('PATCH', ME, { key, body: { first_name: '' } });
    expect(emptied.body).toMatchObject({ first_name: '' });
  });

  it('shows in what the user does', async () => {
    await burgee.api('PATCH', ME, { body: { first_name: 'Grace' } });
    const flag = await burgee.createFlag();
    expect(pick(flag.body, 'created_by', 'first_name')).toBe('Grace');
  });

  it.each([
    [{ first_name: 5 }, 'first_name', 'invalid_input', 'Not a valid string.'],
    [{ last_name: null }, 'last_name', 'null', 'This field may not be null.'],
    [
      { first_name: 'x'.repeat(151) },
      'first_name',
      'max_length',
      'Ensure this field has no more than 150 characters.',
    ],
    [
      { last_name: 'a\u0000b' },
      'last_name',
      'null_characters_not_allowed',
      'Null characters are not allowed.',
    ],
  ])('refuses %j and names the field', async (body, attr, code, detail) => {
    const reply = await burgee.api('PATCH', ME, { body });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ type: 'validation_error', code, detail, attr });
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
