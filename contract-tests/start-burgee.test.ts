import { afterAll, beforeAll, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

it('is alive, ready, and serves its contract', async () => {
  expect((await burgee.request('GET', '/_liveness')).body).toEqual({ status: 'alive' });
  expect((await burgee.request('GET', '/_readiness')).body).toEqual({ status: 'ready' });
  expect((await burgee.request('GET', '/openapi.yaml')).text).toMatch(/^openapi: 3\.0\.3/);
  expect(pick((await burgee.request('GET', '/openapi.json')).body, 'openapi')).toBe('3.0.3');
  expect(burgee.errors()).toEqual([]);
});
