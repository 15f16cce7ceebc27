import type { OpenAPIV3 } from 'openapi-types';
import { describe, expect, it } from 'vitest';
import { createTestPipeline, readReply, type TestPipeline } from '../../../test/http-pipelines.ts';
import { documentOf } from '../../../test/things-contract.ts';
import { RawJson } from '../../operations/operation.ts';

const OK: OpenAPIV3.ResponsesObject = {
  '200': { description: 'Fine.', content: { 'application/json': { schema: {} } } },
};

function documentWith(operationId: string, extensions: object = {}) {
  const requestBody = { content: { 'application/json': { schema: {} } } };
  const post = { operationId, requestBody, responses: OK, ...extensions };
  return documentOf({ '/things/': { post } });
}

describe('compilePlans', () => {
  it('is refused when an operation has no handler', async () => {
    const starting = createTestPipeline({ document: documentWith('unheardOf') });
    await expect(starting).rejects.toThrow('The operation unheardOf has no handler.');
  });

  it.each(['toString', '__proto__'])('takes no inherited %s for a handler', async (id) => {
    const starting = createTestPipeline({ document: documentWith(id) });
    await expect(starting).rejects.toThrow('has no handler');
  });

  it('is refused when a body is of a kind that has no bounds, or no decoder', async () => {
    const boundless = documentWith('createFeatureFlag', { 'x-body': 'capture' });
    await expect(createTestPipeline({ document: boundless })).rejects.toThrow(
      'createFeatureFlag has a body of no kind: capture.',
    );
  });

  it('tells what there is to route to', async () => {
    const { plans } = await createTestPipeline({ document: documentWith('createFeatureFlag') });
    expect(plans).toMatchObject([
      {
        operation: { id: 'createFeatureFlag', method: 'POST', paths: ['/things'] },
        credential: 'none',
        isTraffic: false,
        body: { isIgnored: false, mayHoldCredential: false, bounds: { maxBytes: 1_000_000 } },
      },
    ]);
  });

  it('leaves the document as it was', async () => {
    const document = documentWith('createFeatureFlag');
    const before = structuredClone(document);
    await createTestPipeline({ document });
    expect(document).toEqual(before);
  });
});

describe("the plans of Burgee's contract", () => {
  const planned: Promise<TestPipeline> = createTestPipeline();

  it.each([
    ['createFeatureFlag', { credential: 'secret_key', body: { mayHoldCredential: true } }],
    ['getFeatureFlag', { credential: 'secret_key', body: null }],
    ['evaluateFlags', { credential: 'none', body: { bounds: { maxBytes: 2_097_152 } } }],
    ['captureBatch', { credential: 'none', body: { bounds: { maxBytes: 20_971_520 } } }],
    ['captureAnalyticsEvents', { credential: 'project_token', isTraffic: true }],
    ['discardTelemetry', { credential: 'none', body: { isIgnored: true } }],
  ])('say of %s what is known before its first request', async (id, expected) => {
    expect((await planned).plan(id)).toMatchObject(expected);
  });

  it('count as traffic what is evaluated, captured and served, and nothing else', async () => {
    const { plans } = await planned;
    const traffic = plans.filter(({ isTraffic }) => isTraffic);
    const ids = traffic.map(({ operation }) => operation.id);
    expect(ids).toEqual(
      expect.arrayContaining([
        'evaluateFlags',
        'captureEvent',
        'captureEventByQuery',
        'captureBatch',
        'getFlagDefinitions',
        'getLocalEvaluation',
      ]),
    );
    for (const { operation } of traffic) expect(operation.errorStyle).not.toBe('management');
  });
});

describe('a handler that answers an undeclared status', () => {
  it('is a fault of the service', async () => {
    const errors: unknown[] = [];
    const pipeline = await createTestPipeline({
      document: documentWith('createFeatureFlag'),
      handlers: { createFeatureFlag: ({ reply }) => reply(404, new RawJson('{}')) },
      recording: {
        translateError: (error) => {
          errors.push(error);
          return error;
        },
      },
    });
    expect(readReply(await pipeline.send('createFeatureFlag'))).toMatchObject({
      status: 500,
      type: 'server_error',
    });
    expect(errors).toMatchObject([
      { message: 'createFeatureFlag answered the undeclared status 404.' },
    ]);
  });
});
