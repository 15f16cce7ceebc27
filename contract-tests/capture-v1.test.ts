import { randomUUID } from 'node:crypto';
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpReply, RequestOptions } from './http.ts';
import { pick } from './read.ts';
import {
  PERSONAL_API_KEY,
  PROJECT_API_KEY,
  type StartedBurgee,
  startBurgee,
} from './start-burgee.ts';

const PATH = '/i/v1/analytics/events';
const REQUEST_ID = '019bda1c-7c40-7c7e-8f5a-2f6f1f0a9b3d';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

function headers(changes: Record<string, string | undefined> = {}): Record<string, string> {
  const all = {
    'content-type': 'application/json; charset=utf-8',
    authorization: `bearer ${PROJECT_API_KEY}`,
    'user-agent': 'tests',
    'posthog-sdk-info': 'posthog-tests/1.2.3',
    'posthog-attempt': '1',
    'posthog-request-id': REQUEST_ID,
    'posthog-request-timestamp': new Date().toISOString(),
    ...changes,
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function anEvent(changes: object = {}) {
  const timestamp = new Date().toISOString();
  return { event: 'buy', uuid: randomUUID() as string, distinct_id: 'u', timestamp, ...changes };
}

function send(batch: unknown, options: RequestOptions = {}): Promise<HttpReply> {
  const raw = JSON.stringify({ created_at: new Date().toISOString(), batch });
  return burgee.request('POST', PATH, { raw, headers: headers(), ...options });
}

async function stored(uuid: string) {
  return burgee.db('events').where({ uuid }).first();
}

describe('a batch', () => {
  it('is stored, each event with its result', async () => {
    const [first, second] = [anEvent(), anEvent({ event: '' })];
    const reply = await send([first, second]);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({
      results: {
        [first.uuid]: { result: 'ok' },
        [second.uuid]: { result: 'drop', details: 'missing_event_name' },
      },
    });
    expect(reply.headers['posthog-request-id']).toBe(REQUEST_ID);
    expect(reply.headers.date).toBeDefined();
    expect(await stored(first.uuid)).toBeDefined();
    expect(await stored(second.uuid)).toBeUndefined();
  });

  it('keeps its properties, and turns what is told elsewhere into properties', async () => {
    const event = anEvent({
      session_id: 's',
      window_id: 'w',
      options: { process_person_profile: true, cookieless_mode: false, product_tour_id: 't' },
      properties: { a: 1, $set: { plan: 'pro' }, $lib: 'other' },
    });
    await send([event]);
    expect((await stored(event.uuid))?.properties).toEqual({
      a: 1,
      $set: { plan: 'pro' },
      $lib: 'posthog-tests',
      $lib_version: '1.2.3',
      $session_id: 's',
      $window_id: 'w',
      $process_person_profile: true,
      $cookieless_mode: false,
      $product_tour_id: 't',
    });
    const [{ properties } = { properties: null }] = await burgee.db('persons').select('properties');
    expect(properties).toEqual({ plan: 'pro' });
  });

  it('is stored once, however often it is sent', async () => {
    const event = anEvent();
    for (const attempt of ['1', '2']) {
      const reply = await send([event], { headers: headers({ 'posthog-attempt': attempt }) });
      expect(reply.body).toEqual({ results: { [event.uuid]: { result: 'ok' } } });
    }
    expect(await burgee.db('events').where({ uuid: event.uuid })).toHaveLength(1);
  });

  it('has its times corrected by the clock of the client, unless it vouches for it', async () => {
    const sentAt = { 'posthog-request-timestamp': '2020-01-01T12:00:10Z' };
    const at = { timestamp: '2020-01-01T12:00:00Z' };
    const corrected = anEvent(at);
    const kept = anEvent({ ...at, options: { disable_skew_correction: true } });
    await send([corrected, kept], { headers: headers(sentAt) });
    const row = await stored(corrected.uuid);
    expect((row?.received_at.getTime() ?? 0) - (row?.timestamp.getTime() ?? 0)).toBe(10_000);
    expect((await stored(kept.uuid))?.timestamp).toEqual(new Date('2020-01-01T12:00:00Z'));
  });

  it.each<readonly [string, (json: string) => Buffer]>([
    ['gzip', (json) => zlib.gzipSync(json)],
    ['deflate', (json) => zlib.deflateSync(json)],
    ['br', (json) => zlib.brotliCompressSync(json)],
  ])('may be packed with %s', async (encoding, pack) => {
    const event = anEvent();
    const raw = pack(JSON.stringify({ batch: [event] }));
    const reply = await send([], { raw, headers: headers({ 'content-encoding': encoding }) });
    expect(reply.body).toEqual({ results: { [event.uuid]: { result: 'ok' } } });
    expect(await stored(event.uuid)).toBeDefined();
  });
});

describe('an event is dropped', () => {
  it.each<readonly [string, object]>([
    ['dropped_performance_event', { event: '$performance_event' }],
    ['missing_event_name', { event: undefined }],
    ['missing_event_name', { event: 5 }],
    ['event_name_too_long', { event: 'é'.repeat(101) }],
    ['missing_distinct_id', { distinct_id: undefined }],
    ['missing_distinct_id', { distinct_id: ' ' }],
    ['distinct_id_too_large', { distinct_id: 'é'.repeat(101) }],
    ['invalid_event_timestamp', { timestamp: undefined }],
    ['invalid_event_timestamp', { timestamp: 'yesterday' }],
    ['invalid_event_timestamp', { timestamp: '2026-13-01T00:00:00Z' }],
    ['malformed_event_properties', { properties: [] }],
    ['invalid_options', { options: 'none' }],
    ['invalid_options', { options: { cookieless_mode: 'yes' } }],
    ['invalid_options', { options: { product_tour_id: 5 } }],
    ['event_too_big', { properties: { large: 'x'.repeat(1_048_576) } }],
  ])('with %s, and the others are stored', async (details, changes) => {
    const [bad, good] = [anEvent(changes), anEvent()];
    const reply = await send([bad, good]);
    expect(reply.body).toEqual({
      results: { [bad.uuid]: { result: 'drop', details }, [good.uuid]: { result: 'ok' } },
    });
    expect(await stored(bad.uuid)).toBeUndefined();
    expect(await stored(good.uuid)).toBeDefined();
  });

  it('not for an id that many share: it is stored without a person', async () => {
    const event = anEvent({ distinct_id: ' Anonymous', properties: { $set: { a: 1 } } });
    const reply = await send([event]);
    expect(reply.body).toEqual({
      results: { [event.uuid]: { result: 'ok', details: 'person_processing_disabled' } },
    });
    expect(await stored(event.uuid)).toMatchObject({ person_id: null });
  });
});

/** A request that is refused as a whole. */
type Refusal = readonly [number, string, () => Promise<HttpReply>];

describe('a request is refused', () => {
  const without = (name: string) => () =>
    send([anEvent()], { headers: headers({ [name]: undefined }) });
  const having = (name: string, value: string) => () =>
    send([anEvent()], { headers: headers({ [name]: value }) });
  const twice = anEvent();

  it.each<Refusal>([
    [400, 'missing_required_headers', without('content-type')],
    [400, 'missing_required_headers', without('user-agent')],
    [400, 'missing_required_headers', without('posthog-sdk-info')],
    [400, 'missing_required_headers', without('posthog-attempt')],
    [400, 'missing_required_headers', without('posthog-request-id')],
    [400, 'missing_required_headers', without('posthog-request-timestamp')],
    [400, 'invalid_header_value', having('posthog-sdk-info', 'nameless')],
    [400, 'invalid_header_value', having('posthog-attempt', '0')],
    [400, 'invalid_header_value', having('posthog-attempt', 'first')],
    [400, 'invalid_header_value', having('posthog-request-id', 'mine')],
    [400, 'invalid_header_value', having('posthog-request-timestamp', 'now')],
    [400, 'invalid_header_value', having('posthog-request-timestamp', '2026-01-01T00:00:00+24:00')],
    [400, 'request_decoding_error', having('content-encoding', 'gzip')],
    [400, 'request_decoding_error', () => send([], { raw: Buffer.from([0x22, 0xff, 0x22]) })],
    [400, 'request_parsing_error', () => send([], { raw: '{"batch":' })],
    [400, 'request_parsing_error', () => send([], { raw: '5' })],
    [400, 'empty_body', () => send([], { raw: '' })],
    [400, 'invalid_batch', () => send([], { raw: '{}' })],
    [400, 'invalid_batch', () => send({})],
    [400, 'invalid_batch', () => send([5])],
    [400, 'empty_batch', () => send([])],
    [400, 'missing_event_uuid', () => send([anEvent({ uuid: undefined })])],
    [400, 'missing_event_uuid', () => send([anEvent({ uuid: '' })])],
    [400, 'invalid_event_uuid', () => send([anEvent({ uuid: 'nope' })])],
    [400, 'invalid_event_uuid', () => send([anEvent({ uuid: 5 })])],
    [
      400,
      'duplicate_event_uuid',
      () => send([twice, { ...twice, uuid: twice.uuid.toUpperCase() }]),
    ],
    [401, 'invalid_api_token', without('authorization')],
    [401, 'invalid_api_token', having('authorization', PROJECT_API_KEY)],
    [401, 'invalid_api_token', having('authorization', 'Bearer phc_nobody')],
    [401, 'invalid_api_token', having('authorization', `Bearer${' '.repeat(200_000)}x y`)],
    [401, 'invalid_api_token', having('authorization', `Bearer ${PERSONAL_API_KEY}`)],
    [
      413,
      'payload_too_large',
      () =>
        send([], {
          raw: zlib.gzipSync(Buffer.alloc(52_428_801, ' ')),
          headers: headers({ 'content-encoding': 'gzip' }),
        }),
    ],
    [415, 'unsupported_content_type', having('content-type', 'text/plain')],
    [415, 'unsupported_encoding', having('content-encoding', 'compress')],
  ])('with %i %s', async (status, error, refused) => {
    const before = await burgee.db('events').count('* as n').first();
    const reply = await refused();
    expect([reply.status, reply.body]).toEqual([
      status,
      {
        error,
        error_description: expect.stringMatching(/^[A-Za-z].*\.$/),
        error_uri: 'https://posthog.com/docs/api',
      },
    ]);
    expect(reply.headers.accept).toBe('application/json');
    expect(reply.headers['accept-encoding']).toMatch(/^gzip, deflate, br/);
    expect(await burgee.db('events').count('* as n').first()).toEqual(before);
  });
});

describe('what is wrong with a request is told', () => {
  const wrong = {
    authorization: undefined,
    'user-agent': undefined,
    'content-type': 'text/plain',
    'posthog-attempt': '0',
  };
  const mended = (...names: (keyof typeof wrong)[]) =>
    headers(
      Object.fromEntries(Object.entries(wrong).filter(([name]) => !names.some((n) => n === name))),
    );

  it('about the key first, then about missing headers, their values and the body', async () => {
    const packed = zlib.gzipSync(Buffer.alloc(52_428_801, ' '));
    const tags: unknown[] = [];
    for (const sent of [
      mended(),
      mended('authorization'),
      mended('authorization', 'user-agent'),
      mended('authorization', 'user-agent', 'content-type'),
      headers({ authorization: 'Bearer phc_nobody' }),
      headers(),
    ]) {
      const raw = sent.authorization === undefined ? packed : '{"batch":';
      tags.push(pick((await send([], { raw, headers: sent })).body, 'error'));
    }
    expect(tags).toEqual([
      'invalid_api_token',
      'missing_required_headers',
      'unsupported_content_type',
      'invalid_header_value',
      'invalid_api_token',
      'request_parsing_error',
    ]);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
