import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestPipeline, type TestPipeline } from '../../../test/http-pipelines.ts';
import { RawJson } from '../../operations/operation.ts';
import type { WireReply, WireRequest } from '../wire/wire.ts';

const MIB = 1024 * 1024;

/** The body that a handler got; undefined when none was called. */
let handled: unknown;

let pipeline: TestPipeline;

beforeAll(async () => {
  pipeline = await createTestPipeline({
    handlers: {
      evaluateFlags: ({ body, reply }) => {
        handled = body;
        return reply(200, new RawJson('{}'));
      },
      captureEvent: ({ body, reply }) => {
        handled = body;
        return reply(200, { status: 'Ok' });
      },
      captureEventByQuery: ({ body, reply }) => {
        handled = body;
        return reply(200, { status: 'Ok' });
      },
      captureBatch: ({ body, reply }) => {
        handled = body;
        return reply(200, { status: 'Ok' });
      },
      discardTelemetry: ({ body, reply }) => {
        handled = body;
        return reply(200, new RawJson('{}'));
      },
    },
  });
});
beforeEach(() => {
  handled = undefined;
});

function send(
  id: string,
  payload: Buffer,
  headers: WireRequest['headers'] = { 'content-type': 'application/json' },
  query: WireRequest['query'] = {},
): Promise<WireReply> {
  return pipeline.send(id, { payload, headers, query });
}

const EVENT = { api_key: 'phc_x', event: 'clicked', distinct_id: 'u' };

describe('a body that can be read', () => {
  it.each([
    ['evaluateFlags', { token: 'phc_x', distinct_id: 'u' }],
    ['captureEvent', EVENT],
    ['captureBatch', { api_key: 'phc_x', batch: [EVENT] }],
  ])('reaches the handler of %s as it is', async (id, body) => {
    const reply = await send(id, gzipSync(JSON.stringify(body)));
    expect(reply.status).toBe(200);
    expect(handled).toEqual(body);
  });

  it('may be as large as the limit', async () => {
    const body = JSON.stringify({ token: 'phc_x', distinct_id: 'u' }).padEnd(2 * MIB, ' ');
    expect((await send('evaluateFlags', Buffer.from(body))).status).toBe(200);
  });
});

describe('a body that is too large', () => {
  it.each([
    ['evaluateFlags', 2 * MIB, 'Request body too large: the body is larger than 2097152 bytes.'],
    ['captureEvent', 2 * MIB, 'maximum event size exceeded: the body is larger than 2097152 bytes'],
    [
      'captureBatch',
      20 * MIB,
      'maximum event size exceeded: the body is larger than 20971520 bytes',
    ],
  ])('is refused by %s over %d bytes', (id, limit, text) => {
    const plan = pipeline.plan(id);
    expect(plan.body?.bounds.maxBytes).toBe(limit);
    expect(plan.refuseLarge(limit)).toMatchObject({ kind: 'too_large', detail: text });
  });

  it.each([
    ['evaluateFlags', 4 * MIB],
    ['captureEvent', 20 * MIB],
    ['captureBatch', 25 * MIB],
  ])('is refused by %s when it inflates to more than %d bytes', async (id, limit) => {
    // What cannot be packed makes the rest less dense than the ratio that is bounded.
    const noise = randomBytes(Math.ceil(limit / 90)).toString('latin1');
    const reply = await send(id, gzipSync(noise + ' '.repeat(limit)));
    expect(reply.status).toBe(413);
    expect(reply.body).toContain(`larger than ${limit} bytes`);
  });

  it.each([
    ['evaluateFlags', 'Request body too large: the body unpacks to more than 100 times its size.'],
    [
      'captureBatch',
      'maximum event size exceeded: the body unpacks to more than 100 times its size',
    ],
  ])('is refused by %s when it is packed too densely', async (id, text) => {
    expect(await send(id, gzipSync(Buffer.alloc(2 * MIB, ' ')))).toMatchObject({
      status: 413,
      body: text,
    });
  });

  it.each([
    ['evaluateFlags', 50_000, 'Request body too large: the JSON holds more than 50000 values.'],
    [
      'captureEvent',
      250_000,
      'maximum event size exceeded: the JSON holds more than 250000 values',
    ],
  ])('is refused by %s when it holds more than %d values', async (id, limit, text) => {
    const body = `[${'1,'.repeat(limit)}1]`;
    expect(await send(id, Buffer.from(body))).toMatchObject({ status: 413, body: text });
    expect(handled).toBeUndefined();
  });

  it('is not looked at where it is thrown away', async () => {
    const reply = await send('discardTelemetry', Buffer.from('{'));
    expect(reply.status).toBe(200);
    expect(handled).toBeUndefined();
  });
});

describe('a body that cannot be read', () => {
  const html = { 'content-type': 'text/html' };

  it.each([
    ['text that is no JSON', Buffer.from('{'), {}, 'invalid JSON.'],
    ['an empty body', Buffer.alloc(0), {}, 'invalid JSON.'],
    ['another media type', Buffer.from('{}'), html, 'unsupported content type: text/html.'],
    ['damaged gzip', gzipSync('{}').subarray(0, 12), {}, 'the gzip data is damaged.'],
  ])('is refused by evaluation in its words: %s', async (_what, payload, headers, reason) => {
    expect(await send('evaluateFlags', payload, headers)).toEqual({
      status: 400,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: `Failed to decode request: ${reason.slice(0, -1)}. Please check your request format and try again.`,
    });
  });

  it.each([
    ['text that is no JSON', Buffer.from('{'), {}, /^failed to parse request: ./],
    ['an empty body', Buffer.alloc(0), {}, /^request missing data payload$/],
    ['damaged gzip', gzipSync('{}').subarray(0, 12), {}, /^failed to decode request: the gzip/],
  ])('is refused by capture in its words: %s', async (_what, payload, headers, text) => {
    const reply = await send('captureEvent', payload, headers);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatch(text);
  });

  it.each([[{ token: 'phc_x', distinct_id: ['u'] }], [{ token: 7, distinct_id: 'u' }]])(
    'is refused by evaluation when it breaks the contract: %j',
    async (body) => {
      const reply = await send('evaluateFlags', Buffer.from(JSON.stringify(body)));
      expect(reply.status).toBe(400);
      expect(reply.body).toMatch(
        /^Failed to decode request: invalid JSON: (token|distinct_id) must be .+\. Please check/,
      );
      expect(handled).toBeUndefined();
    },
  );
});

describe('what capture finds in the query', () => {
  const data = Buffer.from(JSON.stringify(EVENT)).toString('base64');

  it('goes before the body', async () => {
    expect((await send('captureEvent', Buffer.from('{'), {}, { data })).status).toBe(200);
    expect(handled).toEqual(EVENT);
  });

  it('is all that there is in a pixel', async () => {
    expect((await send('captureEventByQuery', Buffer.alloc(0), {}, { data })).status).toBe(200);
    expect(handled).toEqual(EVENT);
  });

  it('is told apart from no data at all when it cannot be read', async () => {
    const reply = await send('captureEventByQuery', Buffer.alloc(0), {}, { data: '{' });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatch(/^failed to parse request: ./);
    expect(await send('captureEventByQuery', Buffer.alloc(0), {})).toMatchObject({
      status: 400,
      body: 'request missing data payload',
    });
  });
});
