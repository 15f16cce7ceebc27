import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpReply, RequestOptions } from './http.ts';
import type { TestProject } from './identities.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FEED = '/flags/definitions';
const BY_PROJECT = '/api/projects/1/feature_flags/local_evaluation/';
const NOT_MODIFIED = 304;

let burgee: StartedBurgee;
let other: TestProject;
let etag = '';

beforeAll(async () => {
  burgee = await startBurgee();
  other = await burgee.createProject();
  await burgee.setQuota(other.id, 0);
  await burgee.createFlag({ key: 'lanes' });
  await burgee.createFlag({
    key: 'other-lanes',
    filters: { groups: [{ rollout_percentage: 100 }], payloads: { true: '"grün 旗"' } },
  });
  etag = (await burgee.api('GET', FEED)).headers.etag ?? '';
});

afterAll(async () => {
  await burgee.stop();
});

const COMPARED = [
  'access-control-allow-credentials',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'content-encoding',
  'content-type',
  'etag',
  'retry-after',
  'x-request-id',
];

/**
 * What must be the same: all but the time of the decision, and Hapi's headers about caching where
 * the service itself says nothing about it.
 */
function essence({ status, headers, text }: HttpReply) {
  const names = [
    ...COMPARED,
    ...(headers.etag === undefined ? [] : ['cache-control', 'vary']),
    ...(status === NOT_MODIFIED ? [] : ['content-length']),
  ];
  return {
    status,
    headers: names.map((name) => [name, headers[name]]),
    text: text.replace(/"evaluatedAt":\d+/, '"evaluatedAt":0'),
  };
}

/**
 * Sends a request both ways. Hapi reads the escaped letter, the short way compares paths as they
 * are. That these are two ways shows in what Hapi adds where nothing is said about caching.
 */
async function sendBothWays(method: string, path: string, options: RequestOptions) {
  const aroundHapi = path.replace(/^(\/(?:.*\/)?)([a-z])(?=[^/]*\/?(?:\?|$))/, escapeLetter);
  expect(aroundHapi).not.toBe(path);
  const sent = {
    ...options,
    headers: {
      'x-request-id': '3b4f8c1e-5d2a-4c3b-9f0e-7a6d5c4b3a21',
      origin: 'https://shop.example',
      ...options.headers,
    },
  };
  const hot = await burgee.request(method, path, sent);
  const cold = await burgee.request(method, aroundHapi, sent);
  if (hot.headers.etag === undefined) {
    expect([hot.headers['cache-control'], cold.headers['cache-control']]).toEqual([
      undefined,
      'no-cache',
    ]);
  }
  return { hot: essence(hot), cold: essence(cold) };
}

function escapeLetter(_found: string, before: string, letter: string): string {
  return `${before}%${letter.charCodeAt(0).toString(16)}`;
}

describe('the two lanes to evaluation and capture', () => {
  const large = 'x'.repeat(2_097_153);
  it.each<[string, RequestOptions]>([
    ['/flags', { body: { token: 'TOKEN', distinct_id: 'p' } }],
    ['/flags/?v=1', { body: { token: 'TOKEN', distinct_id: 'p' } }],
    ['/flags?v=2', { body: { token: 'TOKEN', distinct_id: 'p' } }],
    ['/flags', { body: { token: 'TOKEN' } }],
    ['/flags', { body: { distinct_id: 'p' } }],
    ['/flags', { raw: '{' }],
    ['/flags', { raw: large }],
    ['/i/v0/e/', { body: { api_key: 'TOKEN', event: 'e', distinct_id: 'p' } }],
    ['/e/?beacon=1', { body: { api_key: 'TOKEN', event: 'e', distinct_id: 'p' } }],
    ['/capture', { body: { api_key: 'TOKEN', event: 'e' } }],
    ['/batch', { body: { api_key: 'unknown', batch: [{ event: 'e', distinct_id: 'p' }] } }],
    ['/batch/', { raw: '' }],
  ])('answer alike on %s (example %#)', async (path, options) => {
    const text = JSON.stringify(options.body)?.replace('TOKEN', burgee.projectApiKey);
    const { hot, cold } = await sendBothWays('POST', path, {
      raw: text ?? options.raw ?? '',
      headers: { 'content-type': 'application/json' },
    });
    expect(cold).toEqual(hot);
  });
});

describe('the two lanes to definitions', () => {
  const held = () => ({ 'if-none-match': etag });

  it.each<[string, number, string, () => RequestOptions]>([
    ['definitions', 200, FEED, () => ({ key: burgee.personalApiKey })],
    ['definitions with a slash', 200, `${FEED}/`, () => ({ key: burgee.projectSecretKey })],
    ['cohorts', 200, `${FEED}?send_cohorts`, () => ({ key: burgee.personalApiKey })],
    [
      'the alias',
      200,
      '/api/feature_flag/local_evaluation',
      () => ({ key: burgee.personalApiKey }),
    ],
    ['a project', 200, BY_PROJECT, () => ({ key: burgee.personalApiKey })],
    [
      'the own project',
      200,
      BY_PROJECT.replace('/1/', '/@current/'),
      () => ({ key: burgee.projectSecretKey }),
    ],
    [
      'gzip',
      200,
      FEED,
      () => ({ key: burgee.personalApiKey, headers: { 'accept-encoding': 'gzip' } }),
    ],
    ['what has not changed', 304, FEED, () => ({ key: burgee.personalApiKey, headers: held() })],
    [
      'what has not changed, by project',
      304,
      BY_PROJECT,
      () => ({
        key: burgee.personalApiKey,
        headers: { ...held(), 'accept-encoding': 'gzip' },
      }),
    ],
    [
      'another version',
      200,
      FEED,
      () => ({ key: burgee.personalApiKey, headers: { 'if-none-match': 'W/"0"' } }),
    ],
    [
      'a key in the query',
      200,
      FEED,
      () => ({ query: { personal_api_key: burgee.personalApiKey } }),
    ],
    ['nobody', 401, FEED, () => ({})],
    ['an unknown personal key', 401, FEED, () => ({ key: 'phx_unknownunknownunknown00' })],
    ['an unknown secret key', 401, FEED, () => ({ key: 'phs_unknownunknownunknown00' })],
    [
      'an unknown token',
      401,
      FEED,
      () => ({ key: burgee.personalApiKey, query: { token: 'phc_no' } }),
    ],
    ['a used up quota', 402, FEED, () => ({ key: other.projectSecretKey })],
    [
      'a project of others',
      403,
      FEED,
      () => ({ key: burgee.personalApiKey, query: { token: other.projectApiKey } }),
    ],
    [
      'no project',
      404,
      '/api/projects/999/feature_flags/local_evaluation',
      () => ({ key: burgee.personalApiKey }),
    ],
    ['a bad query', 400, `${FEED}?send_cohorts=maybe`, () => ({ key: burgee.personalApiKey })],
    [
      'a header that is too long',
      400,
      FEED,
      () => ({ key: burgee.personalApiKey, headers: { 'if-none-match': 'x'.repeat(1_001) } }),
    ],
  ])('answer alike for %s with %i', async (_name, status, path, optionsFor) => {
    for (const method of ['GET', 'HEAD']) {
      const { hot, cold } = await sendBothWays(method, path, optionsFor());
      expect([method, hot.status]).toEqual([method, status]);
      expect(cold).toEqual(hot);
    }
  });

  it('answer alike for a key without the scope', async () => {
    const { key } = await burgee.createKey({ scopes: ['person:read'] });
    const { hot, cold } = await sendBothWays('GET', FEED, { key });
    expect(hot.status).toBe(403);
    expect(cold).toEqual(hot);
  });

  it('tell an unknown secret key what it is', async () => {
    for (const path of [FEED, BY_PROJECT]) {
      const reply = await burgee.request('GET', path, { key: 'phs_unknownunknownunknown01' });
      expect(reply.body).toEqual({
        type: 'authentication_error',
        code: 'authentication_failed',
        detail: 'Secret API token is invalid.',
        attr: null,
      });
    }
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
