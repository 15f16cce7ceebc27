import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';
const REASONS = `${FLAGS}evaluation_reasons/`;
const MINE = `${FLAGS}my_flags/`;

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
  for (const key of ['colour', 'other']) {
    await burgee.createFlag({ key, filters: { groups: [{ rollout_percentage: 100 }] } });
  }
});
afterAll(() => burgee.stop());

describe('the reasons of an evaluation and the flags of the caller', () => {
  it.each([
    ['a JSON array', 'flag_keys=%5B%22colour%22,%22no-such-flag%22,5%5D'],
    ['one key', 'flag_keys=colour'],
    ['a parameter for each key', 'flag_keys=colour&flag_keys=no-such-flag'],
    ['several arrays', 'flag_keys=%5B%22colour%22%5D&flag_keys=%5B%22no-such-flag%22%5D'],
    ['1,500 parameters', `${'flag_keys=x&'.repeat(1_500)}flag_keys=colour`],
    ['an empty parameter beside a key', 'flag_keys=&flag_keys=colour'],
  ])('tell only the flags that are asked for by %s', async (_how, search) => {
    const reasons = await burgee.api('GET', `${REASONS}?distinct_id=pro&${search}`);
    expect(reasons.body).toEqual({ colour: expect.objectContaining({ value: true }) });
    const mine = await burgee.api('GET', `${MINE}?${search}`);
    expect(mine.status).toBe(200);
    expect(mine.body).toEqual([
      expect.objectContaining({ feature_flag: expect.objectContaining({ key: 'colour' }) }),
    ]);
  });

  it.each([
    ['[', 'Invalid JSON in flag_keys parameter'],
    ['a key', 'Invalid JSON in flag_keys parameter'],
    ['{"a":1}', 'flag_keys must be a JSON array'],
  ])('refuse %j as the keys of flags', async (flag_keys, detail) => {
    for (const path of [REASONS, MINE]) {
      const reply = await burgee.api('GET', path, { query: { distinct_id: 'p', flag_keys } });
      expect(reply.status).toBe(400);
      const fault = { type: 'validation_error', code: 'invalid_input', detail, attr: 'flag_keys' };
      expect(reply.body).toEqual(fault);
    }
  });
});
