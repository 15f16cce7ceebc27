import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  ANYBODY,
  createTestPipeline,
  readReply,
  type TestPipeline,
} from '../../../test/http-pipelines.ts';
import { A_THING, THINGS } from '../../../test/things-contract.ts';
import { LargeWork } from '../../domain/common/large-work.ts';
import { notFound, unavailable } from '../../domain/common/refusal.ts';
import { RawJson } from '../../operations/operation.ts';
import type { WireReply, WireRequest } from '../wire/wire.ts';
import type { Gatekeeper } from './identify.ts';

const USER = { ...ANYBODY, scopes: ['feature_flag:read'] };

/** What the handlers were called with; null when none was. */
let handled: Record<string, unknown> | null = null;
/** The secrets that were looked up. */
let lookedUp: string[] = [];

beforeEach(() => {
  handled = null;
  lookedUp = [];
});

function aPipeline(
  overrides: Partial<Gatekeeper> = {},
  largeWork = new LargeWork(),
): Promise<TestPipeline> {
  return createTestPipeline({
    document: THINGS,
    largeWork,
    handlers: {
      getFeatureFlag: ({ params, query, access, reply }) => {
        handled = { params, query, access };
        return reply(200, new RawJson('{"got":true}'));
      },
      updateFeatureFlag: ({ params, body, reply }) => {
        handled = { params, body };
        return reply(200, new RawJson('{}'));
      },
      getFlagDefinitions: ({ caller, access, reply }) => {
        handled = { caller, access };
        return reply(200, new RawJson('{}'));
      },
    },
    gatekeeper: {
      authenticate: async (secret) => {
        lookedUp.push(secret);
        if (secret === 'phs_secret') return { kind: 'project', projectId: 5 };
        if (secret === 'phx_writer') return { ...ANYBODY, scopes: ['feature_flag:write'] };
        return secret === 'phx_reader' ? USER : null;
      },
      enterProject: async (caller, { projectId }) => ({
        projectId: Number(projectId ?? 5),
        caller,
      }),
      ...overrides,
    },
  });
}

/** Sends a request for a thing to an operation. */
function send(
  pipeline: TestPipeline,
  id: string,
  key: string | null,
  parts: Partial<WireRequest> = {},
): Promise<WireReply> {
  const headers = key === null ? {} : { authorization: `Bearer ${key}` };
  return pipeline.send(id, { ...A_THING, headers, ...parts });
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a request that keeps to the contract', () => {
  it('reaches its handler, with numbers as numbers', async () => {
    const reply = await send(await aPipeline(), 'getFeatureFlag', 'phx_reader', {
      query: { limit: '5' },
    });
    expect(reply).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"got":true}',
    });
    expect(handled).toEqual({
      params: { project_id: '1', id: 7 },
      query: { limit: 5 },
      access: { projectId: 1, caller: USER },
    });
  });

  it('loses the query parameters that the contract does not know', async () => {
    await send(await aPipeline(), 'getFeatureFlag', 'phx_reader', {
      query: { limit: '1', ip: '0', v: '3' },
    });
    expect(handled).toMatchObject({ query: { limit: 1 } });
    expect(handled?.query).not.toHaveProperty('ip');
  });

  it('may name a boolean without a value', async () => {
    await send(await aPipeline(), 'getFeatureFlag', 'phx_reader', { query: { active: '' } });
    expect(handled).toMatchObject({ query: { active: true } });
  });

  it('gets no defaults into its body, which would turn a change into a reset', async () => {
    await send(await aPipeline(), 'updateFeatureFlag', 'phx_writer', { payload: json({ x: 1 }) });
    expect(handled).toEqual({ params: { project_id: '1', id: 7 }, body: { x: 1 } });
  });

  it('may come with either kind of key where the operation allows both', async () => {
    const pipeline = await aPipeline();
    await send(pipeline, 'getFlagDefinitions', 'phs_secret', { params: {} });
    expect(handled).toMatchObject({ caller: { kind: 'project', projectId: 5 } });
    await send(pipeline, 'getFlagDefinitions', 'phx_reader', { params: {} });
    expect(handled).toMatchObject({ caller: { kind: 'user' } });
  });

  it('may have its key in the body, when there is none in the head', async () => {
    const body = { personal_api_key: 'phx_writer', name: 'a' };
    const reply = await send(await aPipeline(), 'updateFeatureFlag', null, { payload: json(body) });
    expect(reply.status).toBe(200);
    expect(handled).toMatchObject({ body });
  });
});

describe('a request that is not let in', () => {
  it.each([
    ['without a key', 'getFeatureFlag', null, 401, 'not_authenticated'],
    ['with a key that nobody holds', 'getFeatureFlag', 'phx_gone', 401, 'authentication_failed'],
    ['with a key of the wrong kind', 'getFeatureFlag', 'phs_secret', 401, 'authentication_failed'],
    [
      'with a key that lacks the scope',
      'updateFeatureFlag',
      'phx_reader',
      403,
      'permission_denied',
    ],
  ])('is refused %s', async (_what, id, key, status, code) => {
    expect(readReply(await send(await aPipeline(), id, key))).toMatchObject({ status, code });
    expect(handled).toBeNull();
  });

  it('names the scope that the key lacks', async () => {
    expect(
      readReply(await send(await aPipeline(), 'updateFeatureFlag', 'phx_reader')),
    ).toMatchObject({
      detail: "API key missing required scope 'feature_flag:write'",
    });
  });

  it.each([
    ['a body that is no JSON', Buffer.from('{')],
    ['a body that breaks the contract', json({ name: 1 })],
    ['a body that is too large', Buffer.alloc(2_000_000, ' ')],
    ['a body that unpacks to too much', gzipSync(Buffer.alloc(2_000_000, ' '))],
    ['no body', Buffer.alloc(0)],
  ])('learns about its key before it learns about %s', async (_what, payload) => {
    const pipeline = await aPipeline();
    expect(
      readReply(await send(pipeline, 'updateFeatureFlag', 'phx_reader', { payload })),
    ).toMatchObject({
      code: 'permission_denied',
    });
    expect(readReply(await send(pipeline, 'updateFeatureFlag', null, { payload }))).toMatchObject({
      code: 'not_authenticated',
    });
  });

  it('learns from the gatekeeper that the project does not exist', async () => {
    const pipeline = await aPipeline({
      enterProject: async () => {
        throw notFound('Project not found.');
      },
    });
    expect(readReply(await send(pipeline, 'getFeatureFlag', 'phx_reader'))).toMatchObject({
      status: 404,
      detail: 'Project not found.',
    });
  });
});

describe('a credential in the head', () => {
  it('goes before one in the body, which is not looked at then', async () => {
    const payload = json({ personal_api_key: 'phx_writer' });
    const pipeline = await aPipeline();
    const reply = await send(pipeline, 'updateFeatureFlag', null, {
      payload,
      query: { personal_api_key: 'phx_reader' },
    });
    expect(readReply(reply)).toMatchObject({ code: 'permission_denied' });
    expect(lookedUp).toEqual(['phx_reader']);
  });

  it('is looked up before a byte of the body is unpacked', async () => {
    const largeWork = new LargeWork();
    const holder = {};
    await largeWork.enter(holder);
    // Nothing large could be unpacked now, so this would wait.
    const payload = gzipSync(Buffer.alloc(400_000, ' '));
    const reply = await send(await aPipeline({}, largeWork), 'updateFeatureFlag', 'phx_gone', {
      payload,
    });
    expect(readReply(reply)).toMatchObject({ code: 'authentication_failed' });
    largeWork.leave(holder);
  });
});

describe('a large body', () => {
  const payload = json({ name: 'x'.repeat(300_000) });

  it('is answered when it was its turn, and gives the turn back', async () => {
    const largeWork = new LargeWork();
    const pipeline = await aPipeline({}, largeWork);
    const replies = await Promise.all(
      ['phx_writer', 'phx_writer', 'phx_reader', 'phx_writer'].map((key) =>
        send(pipeline, 'updateFeatureFlag', key, { payload }),
      ),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 403, 200]);
    await largeWork.enter({});
  });

  it('gives its turn back when it is refused', async () => {
    const largeWork = new LargeWork();
    const pipeline = await aPipeline({}, largeWork);
    const broken = payload.subarray(0, -1);
    const reply = await send(pipeline, 'updateFeatureFlag', 'phx_writer', { payload: broken });
    expect(readReply(reply)).toMatchObject({ status: 400, code: 'parse_error' });
    await largeWork.enter({});
  });

  it('is told to come back when others take too long', async () => {
    const largeWork = new LargeWork({ maxWaitMs: 1 });
    await largeWork.enter({});
    const pipeline = await aPipeline({}, largeWork);
    const reply = await send(pipeline, 'updateFeatureFlag', 'phx_writer', { payload });
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(handled).toBeNull();
  });
});

describe('an outage while a key is looked up', () => {
  const outage = unavailable('The database is unavailable.', null);
  const told = { status: 503, code: 'service_unavailable', detail: outage.detail };

  it.each(['getFeatureFlag', 'getFlagDefinitions'])(
    'is told as an outage by %s and not as a bad key',
    async (id) => {
      const pipeline = await aPipeline({
        authenticate: async () => {
          throw outage;
        },
      });
      expect(readReply(await send(pipeline, id, 'phx_reader'))).toMatchObject(told);
    },
  );

  it('is told when it strikes between the key and the project', async () => {
    const pipeline = await aPipeline({
      enterProject: async () => {
        throw outage;
      },
    });
    expect(readReply(await send(pipeline, 'getFeatureFlag', 'phx_reader'))).toMatchObject(told);
  });
});
