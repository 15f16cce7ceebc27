import type { OpenAPIV3 } from 'openapi-types';
import { describe, expect, it } from 'vitest';
import { handlersWith } from '../../../test/stub-handlers.ts';
import { Refusal } from '../../domain/common/refusal.ts';
import { type Handlers, RawJson } from '../../operations/operation.ts';
import { type Contract, createContract } from './contract.ts';
import type { ContractDocument } from './contract-document.ts';

function documentWith(operationId: string): ContractDocument {
  const responses: OpenAPIV3.ResponsesObject = {
    '200': { description: 'Fine.', content: { 'application/json': { schema: {} } } },
  };
  const definition: OpenAPIV3.Document = {
    openapi: '3.0.3',
    info: { title: 'Things', version: '1' },
    paths: { '/things/': { get: { operationId, responses } } },
    components: {
      securitySchemes: {
        personalApiKey: { type: 'http', scheme: 'bearer' },
        projectSecretKey: { type: 'http', scheme: 'bearer' },
      },
    },
  };
  return { yaml: '', json: '', definition };
}

function start(document: ContractDocument, own: Partial<Handlers> = {}): Promise<Contract> {
  return createContract({
    document,
    handlers: handlersWith(own),
    gatekeeper: {
      authenticate: async () => null,
      enterProject: async (caller) => ({ projectId: 1, caller }),
    },
  });
}

describe('createContract', () => {
  it('is refused when an operation has no handler', async () => {
    const starting = start(documentWith('unheardOf'));
    await expect(starting).rejects.toThrow('The operation unheardOf has no handler.');
  });

  it.each(['toString', '__proto__'])('takes no inherited %s for a handler', async (id) => {
    await expect(start(documentWith(id))).rejects.toThrow('has no handler');
  });

  it('tells what there is to route to', async () => {
    const { operations } = await start(documentWith('getFeatureFlag'));
    expect(operations).toMatchObject([{ id: 'getFeatureFlag', method: 'GET', paths: ['/things'] }]);
  });

  it('leaves the document as it was', async () => {
    const document = documentWith('getFeatureFlag');
    const before = structuredClone(document);
    await start(document);
    expect(document).toEqual(before);
  });
});

describe('a handler that answers an undeclared status', () => {
  it('is a fault of the service', async () => {
    const contract = await start(documentWith('getFeatureFlag'), {
      getFeatureFlag: ({ reply }) => reply(404, new RawJson('{}')),
    });
    const [operation] = contract.operations;
    if (operation === undefined) throw new Error('The operation is missing.');
    const answering = contract.answer(operation, {
      method: 'GET',
      path: '/things/',
      params: {},
      query: {},
      headers: {},
      payload: Buffer.alloc(0),
      baseUrl: 'http://localhost',
      requestId: 'id',
      receivedAt: new Date(0),
    });
    const error = await answering.catch((thrown: unknown) => thrown);
    expect(error).not.toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ message: 'getFeatureFlag answered the undeclared status 404.' });
  });
});
