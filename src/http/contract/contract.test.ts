import type { OpenAPIV3 } from 'openapi-types';
import { beforeEach, describe, expect, it } from 'vitest';
import { handlersWith } from '../../../test/stub-handlers.ts';
import type { Caller } from '../../domain/common/access.ts';
import { notFound, Refusal, unavailable } from '../../domain/common/refusal.ts';
import { RawJson } from '../../operations/operation.ts';
import type { Gatekeeper } from '../pipeline/security.ts';
import type { WireRequest } from '../wire/wire.ts';
import { type Contract, createContract } from './contract.ts';
import type { ContractDocument } from './contract-document.ts';

const OK: OpenAPIV3.ResponsesObject = {
  '200': { description: 'Fine.', content: { 'application/json': { schema: {} } } },
};
const ID: OpenAPIV3.ParameterObject = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { type: 'integer', minimum: 1, maximum: 2147483647 },
};

/** Two operations on a thing, and one that two kinds of key may call. */
const PATHS: object = {
  '/api/projects/{project_id}/things/{id}/': {
    parameters: [
      { name: 'project_id', in: 'path', required: true, schema: { type: 'string' } },
      ID,
    ],
    get: {
      operationId: 'getFeatureFlag',
      'x-required-scope': 'feature_flag:read',
      security: [{ personalApiKey: [] }],
      parameters: [
        { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 0 } },
        { name: 'active', in: 'query', schema: { type: 'boolean' } },
      ],
      responses: OK,
    },
    patch: {
      operationId: 'updateFeatureFlag',
      'x-required-scope': 'feature_flag:write',
      security: [{ personalApiKey: [] }],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: { name: { type: 'string', default: 'no name' } },
            },
          },
        },
      },
      responses: OK,
    },
  },
  '/definitions': {
    get: {
      operationId: 'getFlagDefinitions',
      'x-required-scope': 'feature_flag:read',
      security: [{ personalApiKey: [] }, { projectSecretKey: [] }],
      responses: OK,
    },
  },
};

const DOCUMENT: ContractDocument = {
  yaml: '',
  json: '',
  definition: {
    openapi: '3.0.3',
    info: { title: 'Things', version: '1' },
    paths: { ...PATHS },
    components: {
      securitySchemes: {
        personalApiKey: { type: 'http', scheme: 'bearer' },
        projectSecretKey: { type: 'http', scheme: 'bearer' },
      },
    },
  },
};

const USER: Caller = {
  kind: 'user',
  user: { id: 1, uuid: '', distinctId: '', email: 'ann@example.com' },
  scopes: ['feature_flag:read'],
  keyProjectIds: null,
  memberProjectIds: [1],
};

/** What the handlers were called with; null when none was. */
let handled: Record<string, unknown> | null = null;

beforeEach(() => {
  handled = null;
});

const handlers = handlersWith({
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
});

async function aContract(overrides: Partial<Gatekeeper> = {}): Promise<Contract> {
  const gatekeeper: Gatekeeper = {
    authenticate: async (secret) => {
      if (secret === 'phs_secret') return { kind: 'project', projectId: 5 };
      if (secret === 'phx_writer') return { ...USER, scopes: ['feature_flag:write'] };
      return secret === 'phx_reader' ? USER : null;
    },
    enterProject: async (caller, { projectId }) => ({ projectId: Number(projectId ?? 5), caller }),
    ...overrides,
  };
  return createContract({ document: DOCUMENT, handlers, gatekeeper });
}

/** Sends a request to an operation and returns the reply, or the error that was thrown. */
async function send(
  contract: Contract,
  id: string,
  key: string | null,
  parts: Partial<WireRequest> = {},
): Promise<unknown> {
  const operation = contract.operations.find((each) => each.id === id);
  if (operation === undefined) throw new Error(`There is no operation ${id}.`);
  return contract
    .answer(operation, {
      method: operation.method,
      path: '/api/projects/1/things/7/',
      params: { project_id: '1', id: '7' },
      query: {},
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      payload: Buffer.alloc(0),
      baseUrl: 'http://localhost',
      requestId: 'id',
      receivedAt: new Date(0),
      ...parts,
    })
    .catch((error: unknown) => error);
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a request that keeps to the contract', () => {
  it('reaches its handler, with numbers as numbers', async () => {
    const reply = await send(await aContract(), 'getFeatureFlag', 'phx_reader', {
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
    await send(await aContract(), 'getFeatureFlag', 'phx_reader', {
      query: { limit: '1', ip: '0', v: '3' },
    });
    expect(handled).toMatchObject({ query: { limit: 1 } });
    expect(handled?.query).not.toHaveProperty('ip');
  });

  it('may name a boolean without a value', async () => {
    await send(await aContract(), 'getFeatureFlag', 'phx_reader', { query: { active: '' } });
    expect(handled).toMatchObject({ query: { active: true } });
  });

  it('gets no defaults into its body, which would turn a change into a reset', async () => {
    await send(await aContract(), 'updateFeatureFlag', 'phx_writer', { payload: json({ x: 1 }) });
    expect(handled).toMatchObject({ body: { x: 1 } });
  });

  it('may come with either kind of key where the operation allows both', async () => {
    const contract = await aContract();
    await send(contract, 'getFlagDefinitions', 'phs_secret', { params: {} });
    expect(handled).toMatchObject({ caller: { kind: 'project', projectId: 5 } });
    await send(contract, 'getFlagDefinitions', 'phx_reader', { params: {} });
    expect(handled).toMatchObject({ caller: { kind: 'user' } });
  });
});

describe('a request that is not let in', () => {
  it.each([
    ['without a key', 'getFeatureFlag', null, 'not_authenticated'],
    ['with a key that nobody holds', 'getFeatureFlag', 'phx_gone', 'authentication_failed'],
    ['with a key of the wrong kind', 'getFeatureFlag', 'phs_secret', 'authentication_failed'],
    ['with a key that lacks the scope', 'updateFeatureFlag', 'phx_reader', 'permission_denied'],
  ])('is refused %s', async (_what, id, key, kind) => {
    const error = await send(await aContract(), id, key);
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ kind });
    expect(handled).toBeNull();
  });

  it('names the scope that the key lacks', async () => {
    expect(await send(await aContract(), 'updateFeatureFlag', 'phx_reader')).toMatchObject({
      detail: "API key missing required scope 'feature_flag:write'",
    });
  });

  it.each([
    ['a body that is no JSON', Buffer.from('{')],
    ['a body that breaks the contract', json({ name: 1 })],
    ['no body', Buffer.alloc(0)],
  ])('learns about its key before it learns about %s', async (_what, payload) => {
    const contract = await aContract();
    expect(await send(contract, 'updateFeatureFlag', 'phx_reader', { payload })).toMatchObject({
      kind: 'permission_denied',
    });
    expect(await send(contract, 'updateFeatureFlag', null, { payload })).toMatchObject({
      kind: 'not_authenticated',
    });
  });

  it('learns from the gatekeeper that the project does not exist', async () => {
    const contract = await aContract({
      enterProject: async () => {
        throw notFound('Project not found.');
      },
    });
    expect(await send(contract, 'getFeatureFlag', 'phx_reader')).toMatchObject({
      kind: 'not_found',
      detail: 'Project not found.',
    });
  });
});

describe('an outage while a key is looked up', () => {
  const outage = unavailable('The database is unavailable.', null);

  it.each(['getFeatureFlag', 'getFlagDefinitions'])(
    'is told as an outage by %s and not as a bad key',
    async (id) => {
      const contract = await aContract({
        authenticate: async () => {
          throw outage;
        },
      });
      expect(await send(contract, id, 'phx_reader')).toBe(outage);
    },
  );

  it('is told when it strikes between the key and the project', async () => {
    const contract = await aContract({
      enterProject: async () => {
        throw outage;
      },
    });
    expect(await send(contract, 'getFeatureFlag', 'phx_reader')).toBe(outage);
  });
});

describe('a request that breaks the contract', () => {
  it.each(['abc', '0', '2147483648', '99999999999999999999', '1.5', ''])(
    'finds nothing under the id %j',
    async (id) => {
      const params = { project_id: '1', id };
      expect(
        await send(await aContract(), 'getFeatureFlag', 'phx_reader', { params }),
      ).toMatchObject({ kind: 'not_found', detail: 'Not found.' });
    },
  );

  it.each([
    ['a query parameter out of bounds', { limit: '-1' }, 'min_value', 'limit'],
    ['a query parameter of the wrong type', { limit: 'ten' }, 'invalid_input', 'limit'],
    ['a boolean that is none', { active: 'maybe' }, 'invalid_input', 'active'],
  ])('is told the code and the field: %s', async (_what, query, code, attr) => {
    expect(await send(await aContract(), 'getFeatureFlag', 'phx_reader', { query })).toMatchObject({
      kind: 'invalid',
      code,
      attr,
    });
  });

  it.each([
    ['a field of the wrong type', json({ name: 1 }), { kind: 'invalid', attr: 'name' }],
    ['a list as the body', json([]), { kind: 'invalid', code: 'not_a_dict', attr: null }],
    ['no body', Buffer.alloc(0), { kind: 'invalid', code: 'required', attr: null }],
    ['a body that is no JSON', Buffer.from('{'), { kind: 'malformed', attr: null }],
  ])('is told what is wrong: %s', async (_what, payload, expected) => {
    const contract = await aContract();
    expect(await send(contract, 'updateFeatureFlag', 'phx_writer', { payload })).toMatchObject(
      expected,
    );
    expect(handled).toBeNull();
  });

  it('finds the thing missing before it learns about its body', async () => {
    const parts = { params: { project_id: '1', id: 'abc' }, payload: json({ name: 1 }) };
    expect(await send(await aContract(), 'updateFeatureFlag', 'phx_writer', parts)).toMatchObject({
      kind: 'not_found',
    });
  });
});
