import { afterAll, beforeAll, expect, it } from 'vitest';
import { pickText } from './read.ts';
import { PROJECT_API_KEY, type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});
afterAll(async () => {
  await burgee.stop();
});

const FLAGS = '/api/projects/1/feature_flags/';

it.each([
  ['created_at', '9999-12-31T23:59:59-23:59'],
  ['created_at', '0000-06-01T00:00:00Z'],
  ['created_at', '2016-12-31T23:59:60Z'],
  ['last_called_at', '2016-12-31T23:59:60Z'],
])('A %s of %s, which no reply could carry, is refused and spoils no list', async (field, text) => {
  const reply = await burgee.api('POST', FLAGS, { body: { key: 'far-away', [field]: text } });
  expect(reply.status, reply.text).toBe(400);
  expect(reply.body).toMatchObject({ type: 'validation_error', attr: field });
  expect((await burgee.api('GET', FLAGS)).status).toBe(200);
});

it.each([
  ['a known field', (deep: string) => `{"key": "deep", "filters": {"groups": ${deep}}}`],
  ['an unknown field', (deep: string) => `{"key": "deep", "unknown": ${deep}}`],
])('A management body that is nested too deeply in %s is refused', async (_name, build) => {
  const reply = await burgee.api('POST', FLAGS, {
    raw: build('['.repeat(50_000) + ']'.repeat(50_000)),
    headers: { 'content-type': 'application/json' },
  });
  expect(reply.status, reply.text).toBe(400);
  expect(reply.body).toMatchObject({ code: 'parse_error' });
});

it('An evaluation body that is nested too deeply is refused', async () => {
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  const raw = `{"token": "${PROJECT_API_KEY}", "distinct_id": "p", "person_properties": {"a": ${deep}}}`;
  const reply = await burgee.request('POST', '/flags', { raw });
  expect(reply.status).toBe(400);
  expect(reply.text).toContain('nested too deeply');
});

it('A flag may have a key that objects of JavaScript have already', async () => {
  for (const key of ['__proto__', 'constructor', 'toString']) await burgee.createFlag({ key });
  const legacy = await burgee.evaluate({}, { v: '1' });
  const newer = await burgee.evaluate({}, { v: '2' });
  for (const key of ['__proto__', 'constructor', 'toString']) {
    expect(legacy.text).toContain(`"${key}":true`);
    expect(newer.text).toContain(`"${key}":{"key":"${key}","enabled":true`);
  }
});

it('Bodies over the limit are counted in both lanes', async () => {
  await burgee.request('POST', '/flags', { raw: 'x'.repeat(2 * 1024 * 1024 + 1) });
  const large = { key: 'large', name: 'x'.repeat(4 * 1024 * 1024) };
  await burgee.api('POST', FLAGS, { body: large });
  const { text } = await burgee.request('GET', '/metrics');
  expect(text).toContain('burgee_requests_total{operation="evaluateFlags",status="413"} 1');
  expect(text).toContain('burgee_requests_total{operation="createFeatureFlag",status="413"} 1');
});

it.each([
  [{ uuid: null, timestamp: null, api_key: null, token: PROJECT_API_KEY }],
  [{ timestamp: 1_700_000_000, api_key: PROJECT_API_KEY }],
])('A single event may leave fields empty as an event of a batch may: %j', async (fields) => {
  const reply = await burgee.request('POST', '/e/', {
    body: { event: 'lenient', distinct_id: 'p', ...fields },
  });
  expect(reply.status, reply.text).toBe(200);
});

it('A form without its field says so', async () => {
  const reply = await burgee.request('POST', '/e/', {
    raw: 'x=y',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(reply.status).toBe(400);
  expect(reply.text).toBe('failed to decode request: expected form data in POST request payload');
});

it('An index beyond its column is refused', async () => {
  const reply = await burgee.api('POST', FLAGS, {
    body: { key: 'far', filters: { groups: [{}], aggregation_group_type_index: 1e30 } },
  });
  expect(reply.status).toBe(400);
  expect(pickText(reply.body, 'attr')).toBe('filters');
});

it('A name with a NUL character in the path names nothing', async () => {
  for (const path of ['feature_flags/%00/remote_config/', 'feature_flags/%00/', 'persons/%00/']) {
    const reply = await burgee.api('GET', `/api/projects/1/${path}`);
    expect(reply.status, `${path} ${reply.text}`).toBe(404);
  }
  expect(burgee.errors()).toEqual([]);
});

it("A token in the path that is longer than any is nobody's", async () => {
  for (const name of ['config', 'config.js']) {
    const reply = await burgee.request('GET', `/array/${'0'.repeat(300)}/${name}`);
    expect(reply.status, reply.text).toBe(404);
  }
  expect(burgee.errors()).toEqual([]);
});
