import type { OpenAPIV3 } from 'openapi-types';
import { describe, expect, it } from 'vitest';
import { loadBackend } from './backend.ts';

const DEFINITION: OpenAPIV3.Document = {
  openapi: '3.0.3',
  info: { title: 'Things', version: '1' },
  paths: {
    '/things/{id}': {
      parameters: [{ $ref: '#/components/parameters/Id' }],
      get: { operationId: 'getThing', responses: {} },
    },
  },
  components: {
    parameters: { Id: { name: 'id', in: 'path', required: true, schema: { type: 'integer' } } },
  },
};
const DOCUMENT = { yaml: '', json: '', definition: DEFINITION };

describe('loadBackend', () => {
  it('dereferences operations and compiles their validators', async () => {
    const before = structuredClone(DEFINITION);
    const backend = await loadBackend(DOCUMENT);
    expect(backend.operations).toMatchObject([
      { operationId: 'getThing', path: '/things/{id}', parameters: [{ name: 'id' }] },
    ]);
    const parts = { path: { id: '7' }, query: {}, header: {}, cookie: {} };
    const [validate] = backend.validatorsOf('getThing');
    expect(validate?.(parts)).toBe(true);
    expect(parts.path).toEqual({ id: 7 });
    expect(backend.validatorsOf('getNothing')).toEqual([]);
    expect(DEFINITION).toEqual(before);
  });

  it('takes what was compiled before', async () => {
    const compiled = {
      operations: [{ path: '/other', method: 'get', responses: {} }],
      requestValidatorsOf: () => [],
      replyValidatorOf: () => undefined,
    };
    const backend = await loadBackend({ ...DOCUMENT, compiled });
    expect(backend.operations).toBe(compiled.operations);
  });
});
