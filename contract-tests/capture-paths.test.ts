import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestOptions } from './http.ts';
import { PROJECT_API_KEY, type StartedBurgee, startBurgee } from './start-burgee.ts';

const PATHS = ['/i/v0/e', '/e', '/capture', '/track', '/engage', '/batch', '/i/v0/ai/batch'];
const BOTH_SPELLINGS = PATHS.flatMap((path) => [path, `${path}/`]);
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** An event called "squeezed" with the project API key of these tests, made by lz-string 1.5.0. */
const SQUEEZED =
  'N4IghgDglg+g1gUwJ4gFwggCwMY2wewDsAXAJzG2IBUEBnY2gBVPwCsFKBBaAaWQAZBQ4UICMIADQgEANwQk0IWgEcArggQ' +
  'AvBABNJIHVHpRClGFD3p8AGz1SILCAlLEodNKGIIAHsUUAfwBqCQF4NwAA9gAIwKOiYqJAAX3igA=';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

/** An event with a uuid of its own, to be looked up by it. */
function anEvent(uuid: string): string {
  return JSON.stringify({ api_key: PROJECT_API_KEY, event: 'sent', distinct_id: 'u', uuid });
}

async function isStored(uuid: string): Promise<boolean> {
  return (await burgee.db('events').where({ uuid })).length === 1;
}

describe.each(BOTH_SPELLINGS)('%s', (path) => {
  it('takes events by POST', async () => {
    const uuid = randomUUID();
    const reply = await burgee.request('POST', path, { raw: anEvent(uuid) });
    expect([reply.status, reply.body]).toEqual([200, { status: 'Ok' }]);
    expect(await isStored(uuid)).toBe(true);
  });

  it('takes events by GET from the query', async () => {
    const uuid = randomUUID();
    const query = { data: base64(anEvent(uuid)), _: Date.now(), ip: 1, ver: '1.2.3', retry: 1 };
    const reply = await burgee.request('GET', path, { query });
    expect([reply.status, reply.body]).toEqual([200, { status: 'Ok' }]);
    expect(await isStored(uuid)).toBe(true);
  });

  it('answers a beacon with nothing', async () => {
    const uuid = randomUUID();
    const query = { data: base64(anEvent(uuid)), beacon: 1 };
    for (const reply of [
      await burgee.request('GET', path, { query }),
      await burgee.request('POST', `${path}?beacon=1`, { raw: anEvent(uuid) }),
    ]) {
      expect([reply.status, reply.text]).toEqual([204, '']);
    }
    expect(await isStored(uuid)).toBe(true);
  });

  it('refuses what is missing, and other methods', async () => {
    const reply = await burgee.request('GET', path);
    expect([reply.status, reply.text]).toEqual([400, 'request missing data payload']);
    expect((await burgee.request('PUT', path, { body: {} })).status).toBe(405);
  });
});

describe('a body of old clients', () => {
  it.each<readonly [string, (json: string) => RequestOptions]>([
    ['JSON in the query', (json) => ({ query: { data: json } })],
    ['gzip in base64 in the query', (json) => ({ query: { data: base64(gzipSync(json)) } })],
    [
      'the query, which goes before the body',
      (json) => ({ query: { data: base64(json) }, raw: 'no JSON at all' }),
    ],
    ['base64 in base64', (json) => ({ raw: base64(base64(json)) })],
    ['a form with plus signs', (json) => ({ raw: `data=${base64(json)}`, headers: FORM })],
    [
      'a form that names its packing',
      (json) => ({ raw: `compression=base64&data=${base64(json)}&ver=1`, headers: FORM }),
    ],
    [
      'gzip that is named but was unpacked on the way',
      (json) => ({
        raw: json,
        headers: { 'content-encoding': 'gzip' },
        query: { compression: 'gzip-js' },
      }),
    ],
    ['a media type of its own', (json) => ({ raw: json, headers: { 'content-type': 'text/x' } })],
    [
      'an unknown packing, which counts as none',
      (json) => ({
        raw: json,
        query: { compression: 'zip' },
      }),
    ],
  ])('may be %s', async (_name, pack) => {
    const uuid = randomUUID();
    const reply = await burgee.request('POST', '/e/', pack(anEvent(uuid)));
    expect(reply.status, reply.text).toBe(200);
    expect(await isStored(uuid)).toBe(true);
  });

  it.each<readonly [string, RequestOptions]>([
    ['named by the query', { raw: SQUEEZED, query: { compression: 'lz64' } }],
    ['in the query', { query: { data: SQUEEZED, compression: 'LZ-string' } }],
    ['named by the header', { raw: SQUEEZED, headers: { 'content-encoding': 'lz64' } }],
    ['in a form', { raw: `data=${SQUEEZED}&compression=lz64`, headers: FORM }],
  ])('may be LZ-string %s', async (_name, options) => {
    const before = await burgee.db('events').where({ event: 'squeezed' });
    const reply = await burgee.request('POST', '/e/', options);
    expect(reply.status, reply.text).toBe(200);
    const stored = await burgee.db('events').where({ event: 'squeezed' });
    expect(stored).toHaveLength(before.length + 1);
    expect(stored[0]?.properties).toEqual({ text: 'ü€😀 aaaaaaaaaaaa' });
  });

  it('is refused when it is damaged or becomes too large', async () => {
    const damaged = await burgee.request('POST', '/e/', {
      raw: 'N4IghgDglg!',
      query: { compression: 'lz64' },
    });
    expect([damaged.status, damaged.text]).toEqual([
      400,
      'failed to decode request: the lz64 data is damaged',
    ]);
    const bomb = base64(gzipSync('x'.repeat(26_214_401)));
    const large = await burgee.request('POST', '/e/', { raw: `data=${bomb}`, headers: FORM });
    expect([large.status, large.text]).toEqual([
      413,
      'maximum event size exceeded: the body unpacks to more than 100 times its size',
    ]);
  });
});

describe('paths of what Burgee does not keep', () => {
  it.each(['/i/v1/logs', '/i/v1/metrics/', '/s/', '/s'])('%s takes anything', async (path) => {
    const raw = gzipSync('anything');
    const reply = await burgee.request('POST', `${path}?token=phc_x`, { raw });
    expect([reply.status, reply.body]).toEqual([200, { status: 'Ok' }]);
    expect(await burgee.db('events').where({ event: 'anything' })).toEqual([]);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
