import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const USAGE = '/api/projects/1/feature_flag_request_usage/';
const DEFINITIONS = '/api/projects/1/feature_flags/local_evaluation/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});
afterAll(async () => {
  expect(burgee.errors()).toEqual([]);
  await burgee.stop();
});

const read = (query: Record<string, string | number> = {}, key = burgee.personalApiKey) =>
  burgee.request('GET', USAGE, { query, key });

async function store(day: string, sdk: string, requests: number): Promise<void> {
  const row = { project_id: 1, day, kind: 'evaluation', sdk, sdk_version: '1.0.0', requests };
  await burgee.db('request_usage').insert(row);
}

describe('the requests of a project', () => {
  it('are counted by day, kind, SDK and version, 304s apart, and against the quota', async () => {
    await burgee.createFlag();
    await burgee.setQuota(1, 500);
    const headers = { 'user-agent': 'posthog-node/5.70.0' };
    const body = { token: burgee.projectApiKey, distinct_id: 'p' };
    await burgee.request('POST', '/flags?v=2', { body, headers });
    await burgee.request('POST', '/flags?v=2', { body });
    const { headers: sent } = await burgee.api('GET', DEFINITIONS, { headers });
    const unchanged = { ...headers, 'if-none-match': sent.etag ?? '' };
    expect((await burgee.api('GET', DEFINITIONS, { headers: unchanged })).status).toBe(304);

    const count = async () => pick((await read()).body, 'count');
    await expect.poll(count, { timeout: 20_000, interval: 200 }).toBe(4);
    const today = new Date().toISOString().slice(0, 10);
    const node = { date: today, sdk: 'posthog-node', sdk_version: '5.70.0', requests: 1 };
    const { body: found } = await read();
    expect(pickList(found, 'results')).toEqual([
      { ...node, kind: 'definitions' },
      { ...node, kind: 'definitions_unchanged' },
      { date: today, kind: 'evaluation', sdk: 'other', sdk_version: '', requests: 1 },
      { ...node, kind: 'evaluation' },
    ]);
    const month = { date_from: `${today.slice(0, 7)}-01`, used: 12, quota: 500 };
    expect(pick(found, 'month')).toEqual(month);
    await burgee.setQuota(1, null);
    expect(pick((await read()).body, 'month')).toEqual({ ...month, quota: null });
  }, 30_000);

  it('are read from a day to another, page by page', async () => {
    for (const day of ['2024-02-28', '2024-02-29', '2024-03-01']) {
      await store(day, 'posthog-go', 7);
      await store(day, 'posthog-rust', 8);
    }
    const range = { date_from: '2024-02-29', date_to: '2024-03-01' };
    const all = pickList((await read(range)).body, 'results');
    expect(all.map((each) => `${pickText(each, 'date')} ${pickText(each, 'sdk')}`)).toEqual([
      '2024-03-01 posthog-go',
      '2024-03-01 posthog-rust',
      '2024-02-29 posthog-go',
      '2024-02-29 posthog-rust',
    ]);
    const first = await read({ ...range, limit: 3 });
    expect(pick(first.body, 'count')).toBe(4);
    const next = await burgee.api('GET', pickText(first.body, 'next').replace(burgee.url, ''));
    expect(pickList(next.body, 'results')).toEqual(all.slice(3));
    const behind = await read({ ...range, offset: 10 });
    expect(pick(behind.body, 'count')).toBe(4);
    const day = { date_to: '2024-02-29' };
    expect(pickList((await read(day)).body, 'results')).toHaveLength(4);
  });

  it.each([
    [{ date_from: 'yesterday' }, 'date_from'],
    [{ date_to: '2026-02-30' }, 'date_to'],
    [{ date_from: '2026-01-02', date_to: '2026-01-01' }, 'date_from'],
    [{ date_from: '2024-01-01', date_to: '2025-01-02' }, 'date_from'],
    [{ date_from: '0000-01-01', date_to: '0000-01-02' }, 'date_to'],
    [{ limit: 'many' }, 'limit'],
  ])('are not read for %j', async (query, attr) => {
    const reply = await read(query);
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', attr });
  });

  it.each([
    { date_from: '2024-01-01', date_to: '2025-01-01' },
    { date_from: '0000-12-31', date_to: '0001-01-01' },
    { date_to: '0001-01-01' },
    { date_to: '9999-12-31' },
  ])('are read for %j', async (query) => {
    expect((await read(query)).status).toBe(200);
  });

  it('are not those of another project', async () => {
    const other = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [other.id] });
    const path = USAGE.replace('/1/', `/${other.id}/`);
    const reply = await burgee.request('GET', path, {
      key,
      query: { date_from: '2024-02-01', date_to: '2024-03-31' },
    });
    expect(pickList(reply.body, 'results')).toEqual([]);
    expect((await read({}, key)).status).toBe(403);
  });
});
