import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { handlersWith } from '../../../test/stub-handlers.ts';
import { RawJson } from '../../operations/operation.ts';
import { type Contract, createContract } from '../contract/contract.ts';
import { readContract } from '../contract/contract-document.ts';
import { createIngest, ingestLimitsOf } from './ingest.ts';
import type { WireReply, WireRequest } from './wire.ts';

const MIB = 1024 * 1024;

/** The body that a handler got; undefined when none was called. */
let handled: unknown;

const handlers = handlersWith({
  evaluateFlags: ({ body, reply }) => {
    handled = body;
    return reply(200, new RawJson('{}'));
  },
  captureEvent: ({ body, reply }) => {
    handled = body;
    return reply(200, { status: 'Ok' });
  },
  captureBatch: ({ body, reply }) => {
    handled = body;
    return reply(200, { status: 'Ok' });
  },
});

let contract: Contract;

beforeAll(async () => {
  contract = await createContract({
    document: readContract(),
    handlers,
    gatekeeper: {
      authenticate: async () => null,
      enterProject: async (caller) => ({ projectId: 1, caller }),
    },
  });
});
beforeEach(() => {
  handled = undefined;
});

async function send(
  id: string,
  payload: Buffer,
  headers: WireRequest['headers'] = { 'content-type': 'application/json' },
): Promise<WireReply> {
  const operation = contract.operations.find((each) => each.id === id);
  if (operation === undefined) throw new Error(`There is no operation ${id}.`);
  return createIngest(contract, handlers)(operation, {
    method: 'POST',
    path: '/',
    params: {},
    query: {},
    headers,
    payload,
    baseUrl: 'http://localhost',
    requestId: 'id',
    receivedAt: new Date(0),
  });
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
  ])('is refused by %s over %d bytes', async (id, limit, text) => {
    const reply = await send(id, Buffer.alloc(limit + 1, ' '));
    expect(reply).toMatchObject({ status: 413, body: text });
    expect(handled).toBeUndefined();
  });

  it.each([
    ['evaluateFlags', 4 * MIB],
    ['captureEvent', 25 * MIB],
    ['captureBatch', 25 * MIB],
  ])('is refused by %s when it inflates to more than %d bytes', async (id, limit) => {
    const reply = await send(id, gzipSync(Buffer.alloc(limit + 1, ' ')));
    expect(reply.status).toBe(413);
    expect(reply.body).toContain(`larger than ${limit} bytes`);
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

describe('ingestLimitsOf', () => {
  it('has limits for the operations that carry the traffic, and for no other', () => {
    const limited = contract.operations.filter(
      (operation) => ingestLimitsOf(operation) !== undefined,
    );
    const ids = limited.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['evaluateFlags', 'captureEvent', 'captureBatch']));
    for (const { errorStyle } of limited) expect(errorStyle).not.toBe('management');
  });
});
