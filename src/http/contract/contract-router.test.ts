import { OpenAPIRouter } from 'openapi-backend';
import type { OpenAPIV3 } from 'openapi-types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { handlersWith } from '../../../test/stub-handlers.ts';
import { RawJson } from '../../operations/operation.ts';
import { createContract } from './contract.ts';
import { readContract } from './contract-document.ts';
import { ContractRouter } from './contract-router.ts';

const DEFINITION: OpenAPIV3.Document = {
  openapi: '3.0.3',
  info: { title: 'Things', version: '1' },
  paths: {
    '/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: { operationId: 'getThing', responses: {} },
    },
  },
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe('ContractRouter', () => {
  const router = new ContractRouter({ definition: DEFINITION, ignoreTrailingSlashes: false });

  it('knows each operation by its id, with the parameters of its path', () => {
    expect(router.getOperation('getThing')).toMatchObject({
      path: '/things/{id}',
      method: 'get',
      parameters: [{ name: 'id' }],
    });
    expect(router.getOperation('toString')).toBeUndefined();
  });

  it('never builds its table again', () => {
    expect(router.getOperations()).toBe(router.getOperations());
  });

  it('takes over the operation that was routed, whatever the path is', () => {
    const request = { method: 'get', path: '/an/alias', headers: {}, operationId: 'getThing' };
    expect(router.matchOperation(request)).toBe(router.getOperation('getThing'));
  });

  it.each([
    ['an operation that does not exist', { operationId: 'getNothing' }],
    ['no operation', {}],
  ])('refuses a request that was routed to %s', (_what, routed) => {
    const request = { method: 'get', path: '/things/1', headers: {}, ...routed };
    expect(() => router.matchOperation(request)).toThrow('No operation for /things/1');
  });

  it('hands a parsed request on as it is', () => {
    const body = { text: '{"not": "parsed again"}' };
    const request = { method: 'get', path: '/', headers: { cookie: 'a=b' }, body };
    expect(router.parseRequest(request)).toMatchObject({
      params: {},
      query: {},
      requestBody: body,
    });
  });
});

describe('openapi-backend', () => {
  it('answers requests with our router and never with its own', async () => {
    const document = readContract();
    const contract = await createContract({
      document,
      handlers: handlersWith({
        getFeatureFlag: ({ reply }) => reply(200, new RawJson('{}')),
      }),
      gatekeeper: {
        authenticate: async () => ({
          kind: 'user',
          user: { id: 1, uuid: '', distinctId: '', email: '' },
          scopes: ['*'],
          keyProjectIds: null,
          memberProjectIds: [1],
        }),
        enterProject: async (caller) => ({ projectId: 1, caller }),
      },
    });
    const operation = contract.operations.find(({ id }) => id === 'getFeatureFlag');
    if (operation === undefined) throw new Error('The operation is missing.');
    const stock = (['getOperations', 'matchOperation', 'parseRequest'] as const).map((method) =>
      vi.spyOn(OpenAPIRouter.prototype, method),
    );
    const ours = vi.spyOn(ContractRouter.prototype, 'matchOperation');
    const reply = await contract.answer(operation, {
      method: 'GET',
      path: '/api/projects/1/feature_flags/7/',
      params: { project_id: '1', id: '7' },
      query: {},
      headers: { authorization: 'Bearer phx_x' },
      payload: Buffer.alloc(0),
      baseUrl: 'http://localhost',
      requestId: 'id',
      receivedAt: new Date(0),
    });
    expect(reply.status).toBe(200);
    expect(ours).toHaveBeenCalled();
    for (const method of stock) expect(method).not.toHaveBeenCalled();
  });
});
