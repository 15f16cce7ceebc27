import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestOptions } from './http.ts';
import { randomDigits } from './random-digits.ts';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;
let flag: TestFlag;

beforeAll(async () => {
  burgee = await startBurgee();
  flag = await burgee.createFlag({ key: 'guarded' });
});

afterAll(async () => {
  await burgee.stop();
});

function refusal(type: string, code: string, detail: string, attr: string | null = null) {
  return { type, code, detail, attr };
}

describe('a management request without a good key', () => {
  it('is told that credentials are missing', async () => {
    const reply = await burgee.request('GET', FLAGS);
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual(
      refusal(
        'authentication_error',
        'not_authenticated',
        'Authentication credentials were not provided.',
      ),
    );
  });

  it.each<[string, string, RequestOptions]>([
    ['request Authorization header', 'GET', { key: 'phx_unknown' }],
    ['request Authorization header', 'GET', { key: 'phc_contractTestsProjectApiKey' }],
    ['body', 'POST', { body: { key: 'x', personal_api_key: 'phx_unknown' } }],
    ['query string', 'GET', { query: { personal_api_key: 'phx_unknown' } }],
  ])('is told that the key in its %s is invalid', async (source, method, options) => {
    const reply = await burgee.request(method, FLAGS, options);
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual(
      refusal(
        'authentication_error',
        'authentication_failed',
        `Personal API key found in ${source} is invalid.`,
      ),
    );
  });

  it('is refused with a project secret key, except for flag definitions', async () => {
    const key = burgee.projectSecretKey;
    for (const path of [FLAGS, flag.path, `${FLAGS}activity/`]) {
      const reply = await burgee.request('GET', path, { key });
      expect(reply.status).toBe(401);
      expect(pick(reply.body, 'detail')).toBe(
        'Personal API key found in request Authorization header is invalid.',
      );
    }
    for (const path of [
      `${FLAGS}local_evaluation/`,
      '/api/projects/@current/feature_flags/local_evaluation',
      '/flags/definitions',
      '/api/feature_flag/local_evaluation/',
    ]) {
      expect((await burgee.request('GET', path, { key })).status).toBe(200);
    }
  });

  it('is let in with a key in the body or in the query too', async () => {
    const inQuery = { query: { personal_api_key: burgee.personalApiKey } };
    expect((await burgee.request('GET', FLAGS, inQuery)).status).toBe(200);
    const body = { personal_api_key: burgee.personalApiKey, key: 'key-in-body' };
    expect((await burgee.request('POST', FLAGS, { body })).status).toBe(201);
  });

  it('is refused before anything about the flag or the body is told', async () => {
    for (const id of [flag.id, 999_999]) {
      const options = { key: 'phx_unknown', raw: '{', headers: { 'content-type': 'text/html' } };
      expect((await burgee.request('PATCH', `${FLAGS}${id}/`, options)).status).toBe(401);
    }
  });
});

describe('a management request without the right', () => {
  it.each([
    ['GET', FLAGS, 'feature_flag:read'],
    ['POST', FLAGS, 'feature_flag:write'],
    ['PATCH', `${FLAGS}1/`, 'feature_flag:write'],
    ['PUT', `${FLAGS}1/`, 'feature_flag:write'],
    ['DELETE', `${FLAGS}1/`, 'feature_flag:write'],
    ['GET', `${FLAGS}activity/`, 'activity_log:read'],
    ['GET', `${FLAGS}1/activity/`, 'activity_log:read'],
    ['GET', '/flags/definitions', 'feature_flag:read'],
  ])('is told by %s %s that it misses the scope %s', async (method, path, scope) => {
    const { key } = await burgee.createKey({ scopes: ['cohort:write'] });
    const reply = await burgee.request(method, path, { key });
    expect(reply.status).toBe(403);
    expect(reply.body).toEqual(
      refusal(
        'authentication_error',
        'permission_denied',
        `API key missing required scope '${scope}'`,
      ),
    );
  });

  it('may read with the scope to write, and may not write with the scope to read', async () => {
    const writer = await burgee.createKey({ scopes: ['feature_flag:write'] });
    const reader = await burgee.createKey({ scopes: ['feature_flag:read'] });
    expect((await burgee.request('GET', flag.path, { key: writer.key })).body).toMatchObject({
      can_edit: true,
      user_access_level: 'editor',
    });
    expect((await burgee.request('GET', flag.path, { key: reader.key })).body).toMatchObject({
      can_edit: false,
      user_access_level: 'viewer',
    });
    const body = { name: 'not mine' };
    expect((await burgee.request('PATCH', flag.path, { key: reader.key, body })).status).toBe(403);
  });

  it('stops being let in once its key is revoked', async () => {
    const { id, key } = await burgee.createKey();
    expect((await burgee.request('GET', FLAGS, { key })).status).toBe(200);
    await burgee.revokeKey(id);
    await expect
      .poll(async () => (await burgee.request('GET', FLAGS, { key })).status, { timeout: 4_000 })
      .toBe(401);
  });
});

describe('a management request with a body that cannot be read', () => {
  it('is told why the JSON is malformed', async () => {
    const headers = { 'content-type': 'application/json' };
    const reply = await burgee.api('POST', FLAGS, { raw: '{"key": ', headers });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'invalid_request', code: 'parse_error', attr: null });
    expect(pick(reply.body, 'detail')).toMatch(/^JSON parse error - /);
  });

  it('is told that its media type is not supported', async () => {
    const headers = { 'content-type': 'text/html' };
    const reply = await burgee.api('POST', FLAGS, { raw: '<p>', headers });
    expect(reply.status).toBe(415);
    expect(reply.body).toEqual(
      refusal(
        'invalid_request',
        'unsupported_media_type',
        'Unsupported media type "text/html" in request.',
      ),
    );
  });

  it('is told the limit when it is too large, inflated or not', async () => {
    // Random digits pack about six times; what packs better is refused for that.
    const text = JSON.stringify({ key: 'large', name: randomDigits(4_194_304) });
    const headers = { 'content-type': 'application/json' };
    for (const raw of [text, gzipSync(text)]) {
      const reply = await burgee.api('POST', FLAGS, { raw, headers });
      expect(reply.status).toBe(413);
      expect(reply.body).toEqual(
        refusal(
          'invalid_request',
          'request_too_large',
          'The request body is larger than 4194304 bytes.',
        ),
      );
    }
  });

  it('is told that it unpacks to too much for its size', async () => {
    const headers = { 'content-type': 'application/json' };
    const reply = await burgee.api('POST', FLAGS, {
      raw: gzipSync(' '.repeat(4_000_000)),
      headers,
    });
    expect(reply.status).toBe(413);
    expect(pick(reply.body, 'detail')).toBe('The body unpacks to more than 100 times its size.');
  });

  it('is told how many values it may hold', async () => {
    const headers = { 'content-type': 'application/json' };
    const raw = JSON.stringify({ key: 'large', tags: new Array(50_001).fill(0) });
    const reply = await burgee.api('POST', FLAGS, { raw, headers });
    expect(reply.status).toBe(413);
    expect(pick(reply.body, 'detail')).toBe('The JSON holds more than 50000 values.');
  });

  it('is told which field is missing when there is no body, and takes a gzipped one', async () => {
    const reply = await burgee.api('POST', FLAGS);
    expect(reply.status).toBe(400);
    expect(pick(reply.body, 'type')).toBe('validation_error');
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const raw = gzipSync(JSON.stringify({ key: 'gzipped' }));
    expect((await burgee.api('POST', FLAGS, { raw, headers })).status).toBe(201);
  });

  it.each(['[]', '"key"', '5', 'null', 'true'])('is refused when it is %s', async (raw) => {
    const headers = { 'content-type': 'application/json' };
    const reply = await burgee.api('POST', FLAGS, { raw, headers });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', attr: null });
  });
});

describe('a path', () => {
  it.each([
    ['PUT', FLAGS, 'GET, HEAD, POST, OPTIONS'],
    ['PATCH', FLAGS, 'GET, HEAD, POST, OPTIONS'],
    ['DELETE', FLAGS, 'GET, HEAD, POST, OPTIONS'],
    ['POST', `${FLAGS}1/`, 'GET, HEAD, PUT, PATCH, OPTIONS'],
    ['POST', `${FLAGS}1/activity/`, 'GET, HEAD, OPTIONS'],
    ['POST', `${FLAGS}local_evaluation/`, 'GET, HEAD, OPTIONS'],
    ['POST', '/flags/definitions', 'GET, HEAD, OPTIONS'],
    ['PUT', '/batch/', 'GET, HEAD, POST, OPTIONS'],
    ['PUT', '/i/v0/e/', 'GET, HEAD, POST, OPTIONS'],
  ])('answers %s %s with 405 and Allow: %s', async (method, path, allow) => {
    const reply = await burgee.request(method, path);
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe(allow);
    expect(reply.body).toEqual(
      refusal('invalid_request', 'method_not_allowed', `Method "${method}" not allowed.`),
    );
  });

  it('refuses to delete a flag, known or not, and says what to do instead', async () => {
    for (const id of [flag.id, 999_999]) {
      const reply = await burgee.api('DELETE', `${FLAGS}${id}/`);
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toBe('GET, HEAD, PUT, PATCH, OPTIONS');
      expect(pick(reply.body, 'detail')).toMatch(/Hard delete .* not allowed.*deleted to true/);
    }
    expect((await burgee.api('GET', flag.path)).status).toBe(200);
  });

  it.each([
    ['/api/projects/999999/feature_flags/', 'Project not found.'],
    ['/api/projects/abc/feature_flags/', 'Project not found.'],
    ['/api/projects/0/feature_flags/', 'Project not found.'],
    ['/api/projects/99999999999999999999/feature_flags/', 'Project not found.'],
    [`${FLAGS}999999/`, 'Not found.'],
    [`${FLAGS}abc/`, 'Not found.'],
    [`${FLAGS}0/`, 'Not found.'],
    [`${FLAGS}-1/`, 'Not found.'],
    [`${FLAGS}1.5/`, 'Not found.'],
    [`${FLAGS}99999999999999999999/`, 'Not found.'],
    [`${FLAGS}999999/activity/`, 'Not found.'],
    ['/api/nothing/here', 'Endpoint not found.'],
    ['/api/projects/1/feature_flags/1/nothing', 'Endpoint not found.'],
  ])('%s is answered with 404: %s', async (path, detail) => {
    const reply = await burgee.api('GET', path);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual(refusal('invalid_request', 'not_found', detail));
  });

  it('means the same with and without the slash at its end, without a redirect', async () => {
    for (const path of [FLAGS, flag.path, `${flag.path}activity/`, `${FLAGS}local_evaluation/`]) {
      const [with_, without] = [path, path.slice(0, -1)];
      const replies = await Promise.all([burgee.api('GET', with_), burgee.api('GET', without)]);
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      expect(replies[0]?.body).toEqual(replies[1]?.body);
    }
    const created = await burgee.api('POST', FLAGS.slice(0, -1), { body: { key: 'slashless' } });
    expect(created.status).toBe(201);
  });

  it('takes @current for the project of the key', async () => {
    const path = flag.path.replace('/1/', '/@current/');
    expect((await burgee.api('GET', path)).body).toMatchObject({ id: flag.id });
  });

  it('ignores query parameters and fields that it does not know', async () => {
    const query = { unknown: 'x', version: '9', __proto__x: 1 };
    expect((await burgee.api('GET', FLAGS, { query })).status).toBe(200);
    const body = { key: 'with-unknown-fields', nothing: { nested: [1] }, id: 12, status: 'STALE' };
    const created = await burgee.api('POST', FLAGS, { body });
    expect(created.status).toBe(201);
    expect(created.body).not.toHaveProperty('nothing');
    expect(created.body).toMatchObject({ status: 'ACTIVE' });
    expect(pick(created.body, 'id')).not.toBe(12);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
