import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpReply, RequestOptions } from './http.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

function send(path: string, body: unknown, options: RequestOptions = {}): Promise<HttpReply> {
  return burgee.request('POST', path, { body, ...options });
}

describe('a capture request', () => {
  const event = () => ({ api_key: burgee.projectApiKey, event: 'packed', distinct_id: 'u' });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  it.each<[string, (json: string) => RequestOptions]>([
    ['JSON', (raw) => ({ raw, headers: { 'content-type': 'application/json' } })],
    ['a byte order mark and JSON', (json) => ({ raw: `\uFEFF${json}` })],
    [
      'gzip with its header',
      (json) => ({ raw: gzipSync(json), headers: { 'content-encoding': 'gzip' } }),
    ],
    [
      'gzip without a hint',
      (json) => ({ raw: gzipSync(json), headers: { 'content-type': 'text/plain' } }),
    ],
    ['a form', (json) => ({ raw: `data=${encodeURIComponent(base64(json))}`, headers: form })],
    ['base64', (json) => ({ raw: base64(json), query: { compression: 'base64' } })],
    [
      'a form of gzip in base64',
      (json) => ({
        raw: `data=${encodeURIComponent(gzipSync(json).toString('base64'))}&compression=gzip`,
        headers: form,
      }),
    ],
  ])('may come as %s', async (_name, pack) => {
    const uuid = randomUUID();
    const options = pack(JSON.stringify({ ...event(), uuid }));
    const reply = await burgee.request('POST', '/e/', options);
    expect(reply.status, reply.text).toBe(200);
    expect(await burgee.db('events').where({ uuid })).toHaveLength(1);
  });

  it('may be a list of events, and name its project in several places', async () => {
    const { api_key, ...rest } = event();
    for (const body of [
      [event(), event()],
      { ...rest, token: api_key },
      { ...rest, $token: api_key },
      { ...rest, properties: { token: api_key } },
      [{ ...rest, properties: { token: api_key } }],
    ]) {
      expect((await send('/e/', body)).status).toBe(200);
    }
  });

  it.each<[string, unknown, number, string]>([
    ['/batch/', { batch: [], api_key: 'KEY' }, 400, 'request holds no event'],
    ['/e/', [], 400, 'request holds no event'],
    ['/capture', undefined, 400, 'request missing data payload'],
    ['/capture', { event: 'x', distinct_id: 'u' }, 401, 'event submitted without an api_key'],
    [
      '/capture',
      [
        { event: 'a', api_key: 't1', distinct_id: 'u' },
        { event: 'b', api_key: 't2', distinct_id: 'u' },
      ],
      401,
      'batch submitted with inconsistent api_key values',
    ],
    ['/e/', { api_key: '', event: 'x', distinct_id: 'u' }, 401, 'API key is not valid: empty'],
    [
      '/e/',
      { api_key: 'k'.repeat(65), event: 'x', distinct_id: 'u' },
      401,
      'API key is not valid: too_long',
    ],
    ['/e/', { api_key: 'ü', event: 'x', distinct_id: 'u' }, 401, 'API key is not valid: not_ascii'],
    [
      '/e/',
      { api_key: 'phx_mine', event: 'x', distinct_id: 'u' },
      401,
      'API key is not valid: personal_api_key',
    ],
    [
      '/e/',
      { api_key: 'phc_x', event: 'x', distinct_id: 'u' },
      401,
      'API key is not valid: unknown',
    ],
    [
      '/e/',
      { api_key: 'KEY', event: '', distinct_id: 'u' },
      400,
      'event submitted with an empty event name',
    ],
    ['/e/', { api_key: 'KEY', event: 'x' }, 400, 'event submitted without a distinct_id'],
    [
      '/e/',
      { api_key: 'KEY', event: 'x', distinct_id: '  ' },
      400,
      'event submitted without a distinct_id',
    ],
    [
      '/e/',
      { api_key: 'KEY', event: 'x', distinct_id: null },
      400,
      'event submitted without a distinct_id',
    ],
    [
      '/e/',
      { api_key: 'KEY', event: 'x', distinct_id: 'u', properties: { $cookieless_mode: 'x' } },
      400,
      'event submitted with invalid cookieless mode',
    ],
    [
      '/capture',
      { api_key: 'KEY', distinct_id: 'u', $set: { a: 1 } },
      400,
      'failed to hydrate events from request: non-engage request missing event name attribute',
    ],
  ])('to %s is refused: %j', async (path, body, status, text) => {
    const raw = JSON.stringify(body)?.replace('"KEY"', `"${burgee.projectApiKey}"`) ?? '';
    const reply = await burgee.request('POST', path, { raw });
    expect([reply.status, reply.text]).toEqual([status, text]);
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8');
  });

  it.each<[RegExp, RequestOptions]>([
    [/^failed to parse request: /, { raw: '{"event":' }],
    [/^failed to decode request: /, { raw: gzipSync('{"event":1}').subarray(0, 20) }],
    [/^failed to decode request: /, { raw: 'ver=1', headers: form }],
    [/^failed to hydrate events from request: /, { body: 5 }],
    [/^failed to hydrate events from request: /, { body: { batch: [5] } }],
    [/^failed to hydrate events from request: .*uuid/, { body: { event: 'x', uuid: 'nope' } }],
    [
      /^failed to hydrate events from request: .*propert/,
      { body: { event: 'x', properties: null } },
    ],
  ])('is refused with 400 that says %s', async (text, options) => {
    const body = typeof options.body === 'object' ? { ...event(), ...options.body } : options.body;
    const sent = options.raw === undefined ? { body } : options;
    const reply = await burgee.request('POST', '/e/', sent);
    expect(reply.status, reply.text).toBe(400);
    expect(reply.text).toMatch(text);
  });

  it('stores nothing when one of its events is invalid', async () => {
    const uuid = randomUUID();
    const good = { event: 'good', distinct_id: 'u', uuid };
    const body = { api_key: burgee.projectApiKey, batch: [good, { event: 'bad' }] };
    expect((await send('/batch/', body)).status).toBe(400);
    expect(await burgee.db('events').where({ uuid })).toEqual([]);
  });

  it('is refused with 413 over its limit, which is larger for a batch', async () => {
    const filler = 'x'.repeat(2_097_152);
    const refused = await send('/e/', { ...event(), properties: { filler } });
    expect(refused.status).toBe(413);
    expect(refused.text).toMatch(/^maximum event size exceeded:/);
    const bomb = gzipSync(JSON.stringify({ ...event(), filler: 'x'.repeat(26_214_401) }));
    expect((await burgee.request('POST', '/batch/', { raw: bomb })).status).toBe(413);
    const half = { ...event(), properties: { filler: filler.slice(0, 1_000_000) } };
    const body = { api_key: burgee.projectApiKey, batch: [half, half, half] };
    expect((await send('/batch/', body)).status).toBe(200);
  });

  it('is refused with 413 when one of its events is too large, unless it is about AI', async () => {
    const large = { distinct_id: 'u', properties: { filler: 'x'.repeat(1_048_576) } };
    const body = (name: string) => ({
      api_key: burgee.projectApiKey,
      batch: [
        { event: 'small', distinct_id: 'u' },
        { ...large, event: name },
      ],
    });
    const refused = await send('/batch/', body('large'));
    expect([refused.status, refused.text]).toEqual([
      413,
      'maximum event size exceeded: an event is larger than 1048576 bytes',
    ]);
    expect(await burgee.db('events').where({ event: 'small' })).toEqual([]);
    expect((await send('/i/v0/ai/batch/', body('$ai_generation'))).status).toBe(200);
  });

  it('can be read by browsers of every origin, refused or not', async () => {
    const headers = { origin: 'https://shop.example' };
    for (const body of [event(), { event: 'x' }]) {
      const reply = await send('/e/', body, { headers });
      expect(reply.headers['access-control-allow-origin']).toBe('https://shop.example');
      expect(reply.headers['access-control-allow-credentials']).toBe('true');
      expect(reply.headers.vary).toContain('origin');
    }
    const preflight = await burgee.request('OPTIONS', '/e/', {
      headers: {
        ...headers,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, x-custom',
      },
    });
    expect([preflight.status, preflight.text]).toEqual([204, '']);
    expect(preflight.headers['access-control-allow-headers']).toBe('content-type, x-custom');
    expect(preflight.headers['access-control-allow-methods']).toContain('POST');
    expect(preflight.headers['access-control-allow-origin']).toBe('https://shop.example');
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
