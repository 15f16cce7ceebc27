import { describe, expect, it } from 'vitest';
import { readOperation } from '../contract/contract-document.ts';
import { findCredential, findProjectToken, refuseCredential } from './security.ts';
import type { WireRequest } from './wire.ts';

function aRequest(overrides: Partial<WireRequest> = {}): WireRequest {
  return {
    method: 'GET',
    path: '/',
    params: {},
    query: {},
    headers: {},
    payload: Buffer.alloc(0),
    baseUrl: 'http://localhost',
    requestId: 'id',
    receivedAt: new Date(0),
    ...overrides,
  };
}

describe('findCredential', () => {
  const everywhere = aRequest({
    headers: { authorization: 'Bearer from-header' },
    query: { personal_api_key: 'from-query' },
  });
  const body = { personal_api_key: 'from-body' };

  it('prefers the header to the body and the query', () => {
    expect(findCredential(everywhere, body)).toEqual({
      secret: 'from-header',
      source: 'request Authorization header',
    });
  });

  it('prefers the body to the query', () => {
    expect(findCredential({ ...everywhere, headers: {} }, body)).toEqual({
      secret: 'from-body',
      source: 'body',
    });
  });

  it('takes the query when there is nothing else', () => {
    expect(findCredential({ ...everywhere, headers: {} }, undefined)).toEqual({
      secret: 'from-query',
      source: 'query string',
    });
  });

  it.each(['Bearer key', 'bearer key', 'BEARER   key ', 'Bearer\tkey'])(
    'reads the header %j',
    (authorization) => {
      expect(findCredential(aRequest({ headers: { authorization } }), null)?.secret).toBe('key');
    },
  );

  it.each(['', 'Basic a2V5', 'key', 'Bearer', 'Bearer ', 'Bearer two words'])(
    'passes over the header %j',
    (authorization) => {
      const request = aRequest({ headers: { authorization }, query: { personal_api_key: 'q' } });
      expect(findCredential(request, null)?.secret).toBe('q');
    },
  );

  it('reads the secret key of a project from the body', () => {
    expect(findCredential(aRequest(), { secret_api_key: 'phs_x' })?.secret).toBe('phs_x');
  });

  it.each([[[]], ['text'], [null], [{}], [{ personal_api_key: 7 }], [{ personal_api_key: '' }]])(
    'finds none in the body %j',
    (value) => {
      expect(findCredential(aRequest({ query: { personal_api_key: '' } }), value)).toBeNull();
    },
  );
});

function anOperation(schemes: readonly string[]) {
  const security = schemes.map((scheme) => ({ [scheme]: [] }));
  return readOperation({ path: '/x', method: 'get', security, responses: {} }, 'getFeatureFlag');
}

describe('refuseCredential', () => {
  it('asks for a credential when there is none', () => {
    expect(refuseCredential(anOperation(['personalApiKey']), null)).toMatchObject({
      kind: 'not_authenticated',
      detail: 'Authentication credentials were not provided.',
    });
  });

  it.each(['request Authorization header', 'body', 'query string'] as const)(
    'says that the key in the %s is invalid, without repeating it',
    (source) => {
      const open = anOperation(['personalApiKey', 'projectSecretKey']);
      expect(refuseCredential(open, { secret: 'phx_secret', source })).toMatchObject({
        kind: 'authentication_failed',
        detail: `Personal API key found in ${source} is invalid.`,
      });
    },
  );

  it('tells a secret key of a project apart where such keys are taken, and only there', () => {
    const credential = { secret: 'phs_secret', source: 'body' } as const;
    const open = anOperation(['personalApiKey', 'projectSecretKey']);
    expect(refuseCredential(open, credential)).toMatchObject({
      code: 'authentication_failed',
      detail: 'Secret API token is invalid.',
    });
    expect(refuseCredential(anOperation(['personalApiKey']), credential)).toMatchObject({
      code: 'authentication_failed',
      detail: 'Personal API key found in body is invalid.',
    });
  });
});

describe('findProjectToken', () => {
  it.each([
    ['the query', { query: { token: 'phc_q', api_key: 'phc_other' } }, 'phc_q'],
    ['the older name in the query', { query: { api_key: 'phc_q' } }, 'phc_q'],
    ['the header', { headers: { 'x-posthog-project-api-key': 'phc_h' } }, 'phc_h'],
    [
      'the header when the query is empty',
      { query: { token: '' }, headers: { 'x-posthog-project-api-key': 'phc_h' } },
      'phc_h',
    ],
  ])('reads %s', (_what, parts, token) => {
    expect(findProjectToken(aRequest(parts))).toBe(token);
  });

  it('does not let the query of a write name another project', () => {
    expect(findProjectToken(aRequest({ method: 'PATCH', query: { token: 'phc_q' } }))).toBeNull();
  });

  it('finds none when none is sent', () => {
    expect(findProjectToken(aRequest())).toBeNull();
  });
});
