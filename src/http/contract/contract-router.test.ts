import { OpenAPIRouter } from 'openapi-backend';
import type { OpenAPIV3 } from 'openapi-types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTestPipeline } from '../../../test/http-pipelines.ts';
import { RawJson } from '../../operations/operation.ts';
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
  it('is asked for its validators at the start, and routes no request', async () => {
    const pipeline = await createTestPipeline({
      handlers: { getFeatureFlag: ({ reply }) => reply(200, new RawJson('{}')) },
    });
    const stock = (['getOperations', 'matchOperation', 'parseRequest'] as const).map((method) =>
      vi.spyOn(OpenAPIRouter.prototype, method),
    );
    const reply = await pipeline.send('getFeatureFlag', {
      path: '/api/projects/1/feature_flags/7/',
      params: { project_id: '1', id: '7' },
      headers: { authorization: 'Bearer phx_x' },
    });
    expect(reply.status).toBe(200);
    for (const method of stock) expect(method).not.toHaveBeenCalled();
  });
});
