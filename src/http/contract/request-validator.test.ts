import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ANYBODY,
  createTestPipeline,
  readReply,
  type TestPipeline,
} from '../../../test/http-pipelines.ts';
import { A_THING, THINGS } from '../../../test/things-contract.ts';
import { RawJson } from '../../operations/operation.ts';
import type { WireRequest } from '../wire/wire.ts';

let pipeline: TestPipeline;
let isHandled = false;

beforeAll(async () => {
  pipeline = await createTestPipeline({
    document: THINGS,
    gatekeeper: { authenticate: async () => ANYBODY },
    handlers: {
      updateFeatureFlag: ({ reply }) => {
        isHandled = true;
        return reply(200, new RawJson('{}'));
      },
    },
  });
});
beforeEach(() => {
  isHandled = false;
});

async function send(id: string, parts: Partial<WireRequest>): Promise<Record<string, unknown>> {
  const headers = { authorization: 'Bearer phx_key' };
  return readReply(await pipeline.send(id, { ...A_THING, headers, ...parts }));
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a request that breaks the contract', () => {
  it.each(['abc', '0', '2147483648', '99999999999999999999', '1.5', ''])(
    'finds nothing under the id %j',
    async (id) => {
      const params = { project_id: '1', id };
      expect(await send('getFeatureFlag', { params })).toMatchObject({
        status: 404,
        code: 'not_found',
        detail: 'Not found.',
      });
    },
  );

  it.each([
    ['a query parameter out of bounds', { limit: '-1' }, 'min_value', 'limit'],
    ['a query parameter of the wrong type', { limit: 'ten' }, 'invalid_input', 'limit'],
    ['a boolean that is none', { active: 'maybe' }, 'invalid_input', 'active'],
  ])('is told the code and the field: %s', async (_what, query, code, attr) => {
    expect(await send('getFeatureFlag', { query })).toMatchObject({
      status: 400,
      type: 'validation_error',
      code,
      attr,
    });
  });

  const invalid = { status: 400, type: 'validation_error' };

  it.each([
    ['a field of the wrong type', json({ name: 1 }), { ...invalid, attr: 'name' }],
    ['a list as the body', json([]), { ...invalid, code: 'not_a_dict', attr: null }],
    ['no body', Buffer.alloc(0), { ...invalid, code: 'required', attr: null }],
    ['a body that is no JSON', Buffer.from('{'), { status: 400, code: 'parse_error', attr: null }],
  ])('is told what is wrong: %s', async (_what, payload, expected) => {
    expect(await send('updateFeatureFlag', { payload })).toMatchObject(expected);
    expect(isHandled).toBe(false);
  });

  it('finds the thing missing before it learns about its body', async () => {
    const parts = { params: { project_id: '1', id: 'abc' }, payload: json({ name: 1 }) };
    expect(await send('updateFeatureFlag', parts)).toMatchObject({
      status: 404,
      code: 'not_found',
    });
  });
});
