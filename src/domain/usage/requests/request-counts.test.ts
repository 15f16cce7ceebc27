import { expect, it } from 'vitest';
import { RequestCounts } from './request-counts.ts';

const NOON = Date.parse('2026-03-31T12:00:00Z');
const NEXT_DAY = Date.parse('2026-04-01T00:00:00Z');

it('counts by project, day, kind and SDK', () => {
  const counts = new RequestCounts();
  counts.add(1, 'evaluation', 'posthog-node/5.0.0', NOON);
  counts.add(1, 'evaluation', 'posthog-node/5.0.0 (linux)', NOON);
  counts.add(1, 'definitions', '', NOON);
  counts.add(2, 'evaluation', 'curl', NOON);
  counts.add(1, 'evaluation', 'posthog-node/5.0.0', NEXT_DAY);
  const node = { sdk: 'posthog-node', version: '5.0.0' };
  const other = { sdk: 'other', version: '' };
  expect(counts.take()).toEqual([
    { projectId: 1, day: '2026-03-31', kind: 'definitions', ...other, requests: 1 },
    { projectId: 1, day: '2026-03-31', kind: 'evaluation', ...node, requests: 2 },
    { projectId: 1, day: '2026-04-01', kind: 'evaluation', ...node, requests: 1 },
    { projectId: 2, day: '2026-03-31', kind: 'evaluation', ...other, requests: 1 },
  ]);
  expect(counts.take()).toEqual([]);
});

it('adds what could not be written to what came later', () => {
  const counts = new RequestCounts();
  counts.add(1, 'evaluation', 'curl', NOON);
  const failed = counts.take();
  counts.restore(failed);
  counts.restore([]);
  counts.add(1, 'evaluation', 'wget', NOON);
  expect(counts.take().map(({ requests }) => requests)).toEqual([2]);
});

it('tells only so many User-Agents apart, and loses no request', () => {
  const counts = new RequestCounts();
  for (let version = 0; version < 3_000; version += 1) {
    counts.add(1, 'evaluation', `posthog-node/${version}`, NOON);
  }
  const taken = counts.take();
  expect(taken.length).toBeLessThanOrEqual(1_001);
  expect(taken.reduce((sum, { requests }) => sum + requests, 0)).toBe(3_000);
});

it('tells no more of them apart in one day, however often it was asked for them', () => {
  const counts = new RequestCounts();
  let rows = 0;
  for (let round = 0; round < 5; round += 1) {
    for (let version = 0; version < 500; version += 1) {
      counts.add(1, 'evaluation', `posthog-node/${round}.${version}`, NOON);
    }
    rows += counts.take().length;
  }
  expect(rows).toBeLessThanOrEqual(1_005);
  counts.add(1, 'evaluation', 'posthog-node/0.1', NOON);
  counts.add(1, 'evaluation', 'posthog-node/next', NEXT_DAY);
  expect(counts.take().map(({ version }) => version)).toEqual(['0.1', 'next']);
});
