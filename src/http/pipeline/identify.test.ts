import { describe, expect, it } from 'vitest';
import { readOperation } from '../contract/contract-document.ts';
import type { WireRequest } from '../wire/wire.ts';
import { findProjectToken } from './authorise.ts';
import { findBodyCredential, findCredential, refuseCredential } from './identify.ts';

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
    peer: {},
    ...overrides,
  };
}

describe('findCredential', () => {
  const everywhere = aRequest({
    headers: { authorization: 'Bearer from-header' },
    query: { personal_api_key: 'from-query' },
  });

  it('prefers the header to the query', () => {
    expect(findCredential(everywhere)).toEqual({
      secret: 'from-header',
      source: 'request Authorization header',
    });
  });

  it('takes the query when there is nothing else', () => {
    expect(findCredential({ ...everywhere, headers: {} })).toEqual({
      secret: 'from-query',
      source: 'query string',
    });
  });

  it('finds none when none is sent, or an empty one', () => {
    expect(findCredential(aRequest())).toBeNull();
    expect(findCredential(aRequest({ query: { personal_api_key: '' } }))).toBeNull();
  });

  it.each(['Bearer key', 'bearer key', 'BEARER   key ', 'Bearer\tkey'])(
    'reads the header %j',
    (authorization) => {
      expect(findCredential(aRequest({ headers: { authorization } }))?.secret).toBe('key');
    },
  );

  it.each(['', 'Basic a2V5', 'key', 'Bearer', 'Bearer ', 'Bearer two words'])(
    'passes over the header %j',
    (authorization) => {
      const request = aRequest({ headers: { authorization }, query: { personal_api_key: 'q' } });
      expect(findCredential(request)?.secret).toBe('q');
    },
  );
});

describe('findBodyCredential', () => {
  it('reads a personal key from the body, and the secret key of a project', () => {
    expect(findBodyCredential({ personal_api_key: 'phx_x', secret_api_key: 'phs_x' })).toEqual({
      secret: 'phx_x',
      source: 'body',
    });
    expect(findBodyCredential({ secret_api_key: 'phs_x' })?.secret).toBe('phs_x');
  });

  it.each([
    [undefined],
    [[]],
    ['text'],
    [null],
    [{}],
    [{ personal_api_key: 7 }],
    [{ personal_api_key: '' }],
  ])('finds none in the body %j', (value) => {
    expect(findBodyCredential(value)).toBeNull();
  });
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

it('reads a header of many blanks in proportion to its length', () => {
  // The time limit of the test is what a reading in the square of the length would break.
  const blanks = ' '.repeat(250_000);
  const request = aRequest({ headers: { authorization: `Bearer${blanks}x y` } });
  expect(findCredential(request)).toBeNull();
});
