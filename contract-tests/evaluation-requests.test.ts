import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestOptions } from './http.ts';
import { randomDigits } from './random-digits.ts';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
  await burgee.createFlag({ key: 'plain' });
  await burgee.createFlag({
    key: 'pro',
    filters: { groups: [{ properties: [{ key: 'plan', type: 'person', value: ['pro'] }] }] },
  });
});

afterAll(async () => {
  await burgee.stop();
});

describe('an evaluation request', () => {
  const bodyOf = () => ({ token: burgee.projectApiKey, distinct_id: 'p', flag_keys: ['plain'] });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const text = { 'content-type': 'text/plain' };

  it.each<[string, (json: string) => RequestOptions]>([
    ['JSON without a media type', (raw) => ({ raw })],
    ['JSON as plain text', (raw) => ({ raw, headers: text })],
    [
      'gzip that the header tells',
      (json) => ({
        raw: gzipSync(json),
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      }),
    ],
    ['gzip that nothing tells', (json) => ({ raw: gzipSync(json), headers: text })],
    [
      'gzip that the query tells',
      (json) => ({ raw: gzipSync(json), headers: text, query: { compression: 'gzip-js' } }),
    ],
    ['base64', (json) => ({ raw: base64(json), headers: text, query: { compression: 'base64' } })],
    [
      'a form of base64',
      (json) => ({ raw: `data=${encodeURIComponent(base64(json))}`, headers: form }),
    ],
    ['a form of unescaped base64', (json) => ({ raw: `data=${base64(json)}`, headers: form })],
    ['a form of JSON', (json) => ({ raw: `data=${encodeURIComponent(json)}`, headers: form })],
    ['plain JSON that the query calls gzip', (raw) => ({ raw, query: { compression: 'gzip' } })],
  ])('may be %s', async (_name, pack) => {
    const reply = await burgee.request('POST', '/flags/', pack(JSON.stringify(bodyOf())));
    expect(reply.status, reply.text).toBe(200);
    expect(pick(reply.body, 'flags', 'plain', 'enabled')).toBe(true);
  });

  it('may use the names of older clients', async () => {
    const older = {
      $token: burgee.projectApiKey,
      $distinct_id: 'p',
      $properties: { plan: 'pro' },
      flag_keys: ['pro'],
    };
    for (const body of [older, { ...older, $token: undefined, api_key: burgee.projectApiKey }]) {
      const reply = await burgee.request('POST', '/flags', { body });
      expect(pick(reply.body, 'flags', 'pro', 'enabled')).toBe(true);
    }
  });

  it('may name the person by a number, which counts as its text', async () => {
    const flag = await burgee.createFlag({
      key: 'half',
      filters: { groups: [{ rollout_percentage: 50 }] },
    });
    for (let id = 1; id <= 20; id += 1) {
      const [number, word] = await Promise.all(
        [id, String(id)].map((distinct_id) => burgee.evaluate({ distinct_id })),
      );
      const enabled = pick(number?.body, 'flags', flag.key, 'enabled');
      expect(enabled).toBe(pick(word?.body, 'flags', flag.key, 'enabled'));
    }
  });

  it('may have null for what it does not know, and fields that nobody knows', async () => {
    const reply = await burgee.evaluate({
      groups: null,
      person_properties: null,
      group_properties: null,
      flag_keys_to_evaluate: null,
      geoip_disable: null,
      sent_at: '2026-01-01T00:00:00Z',
      timezone: 'Europe/Zurich',
      unknown: [{}],
    });
    expect(reply.status, reply.text).toBe(200);
    expect((await burgee.evaluate({ distinct_id: '' })).status).toBe(200);
  });

  it.each<[unknown, string]>([
    [undefined, 'not_authenticated'],
    ['', 'not_authenticated'],
    [null, 'not_authenticated'],
    ['phc_unknown', 'authentication_failed'],
    ['phx_contractTestsPersonalApiKey00000000000001', 'authentication_failed'],
  ])('with the token %j is refused with 401', async (token, code) => {
    const reply = await burgee.request('POST', '/flags', { body: { token, distinct_id: 'p' } });
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual({
      type: 'authentication_error',
      code,
      detail:
        code === 'not_authenticated'
          ? 'No API token provided. Please include a valid API token in your request.'
          : 'The provided API key is invalid or has expired. Please check your API key and try again.',
      attr: null,
    });
  });

  it('that names nobody is refused with 400, after the token was looked at', async () => {
    const body = { token: burgee.projectApiKey };
    const reply = await burgee.request('POST', '/flags', { body });
    expect([reply.status, reply.text]).toEqual([
      400,
      'The distinct_id field is missing from the request. Please include a valid identifier.',
    ]);
    const unknown = await burgee.request('POST', '/flags', { body: { token: 'phc_unknown' } });
    expect(unknown.status).toBe(401);
  });

  it.each<[string, RequestOptions]>([
    ['nothing', { raw: '' }],
    ['half of some JSON', { raw: '{"token": "x"' }],
    ['a list', { raw: '[]' }],
    ['damaged gzip', { raw: gzipSync('{"token":"x"}').subarray(0, 20) }],
    ['an unknown media type', { raw: '{}', headers: { 'content-type': 'application/xml' } }],
    ['a form without data', { raw: 'a=b', headers: form }],
    ['a truth for the person', { body: { token: 'phc_x', distinct_id: true } }],
    ['a list for the person', { body: { token: 'phc_x', distinct_id: [] } }],
    ['a list for properties', { body: { token: 'phc_x', person_properties: [1] } }],
    ['a text for groups', { body: { token: 'phc_x', distinct_id: 'p', groups: 'acme' } }],
    ['a number for the token', { body: { token: 5, distinct_id: 'p' } }],
  ])('of %s is refused with 400', async (_name, options) => {
    const reply = await burgee.request('POST', '/flags', options);
    expect(reply.status, reply.text).toBe(400);
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(reply.text).toMatch(
      /^Failed to decode request: .*\. Please check your request format and try again\.$/,
    );
  });

  it.each([
    [{ groups: 'acme' }, 'groups must not be a text, a number, true or false'],
    [{ person_properties: 5 }, 'person_properties must not be a text, a number, true or false'],
    [{ group_properties: [{}] }, 'group_properties must NOT have more than 0 items'],
    [{ flag_keys_to_evaluate: 'a' }, 'flag_keys_to_evaluate must be array'],
  ])('says which field of %j is wrong, and how', async (fields, complaint) => {
    const reply = await burgee.request('POST', '/flags', { body: { ...bodyOf(), ...fields } });
    expect(reply.text).toContain(`invalid JSON: ${complaint}`);
  });

  it('is refused with 413 over 2 MiB as sent and over 4 MiB inflated', async () => {
    const large = JSON.stringify({ ...bodyOf(), filler: randomDigits(4_194_304) });
    for (const raw of [large.slice(0, 2_097_153), gzipSync(large)]) {
      const reply = await burgee.request('POST', '/flags', { raw });
      expect(reply.status).toBe(413);
      expect(reply.text).toMatch(/bytes/);
    }
    const fits = JSON.stringify({ ...bodyOf(), filler: 'x'.repeat(2_097_000) });
    expect((await burgee.request('POST', '/flags', { raw: fits })).status).toBe(200);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
