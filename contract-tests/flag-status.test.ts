import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';
const LONG_AGO = '2020-01-01T00:00:00Z';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

describe('the status of a flag', () => {
  it.each<[string, object, object]>([
    [
      'a new flag',
      {},
      { status: 'active', reason: 'Flag has no usage data yet', reason_states_rollout: false },
    ],
    [
      'an old flag for everybody',
      { created_at: LONG_AGO },
      {
        status: 'stale',
        reason: 'This boolean flag will always evaluate to "true"',
        reason_states_rollout: true,
        rollout: {
          effectively_full_rollout: true,
          has_targeting_conditions: false,
          max_rollout_percentage: 100,
          is_multivariate: false,
        },
      },
    ],
    [
      'an old flag that is switched off',
      { created_at: LONG_AGO, active: false },
      { status: 'active', reason: 'Flag is disabled (not evaluated for staleness)' },
    ],
    [
      'a flag that was called today',
      { last_called_at: new Date().toISOString() },
      { status: 'active', reason: 'Flag was called today' },
    ],
    [
      'a flag that was called long ago',
      { last_called_at: LONG_AGO },
      { status: 'stale', reason: expect.stringMatching(/^Flag has not been called in \d+ days$/) },
    ],
    [
      'a flag for some',
      {
        filters: {
          groups: [
            {
              properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }],
              rollout_percentage: 12.5,
            },
          ],
          multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
        },
      },
      {
        rollout: {
          effectively_full_rollout: false,
          has_targeting_conditions: true,
          max_rollout_percentage: 12.5,
          is_multivariate: true,
        },
      },
    ],
  ])('%s', async (_what, fields, expected) => {
    const flag = await burgee.createFlag(fields);
    const reply = await burgee.api('GET', `${flag.path}status/`);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject(expected);
    expect(pick(flag.body, 'status')).toBe(String(pick(reply.body, 'status')).toUpperCase());
  });

  it('a deleted flag', async () => {
    const flag = await burgee.createFlag();
    await burgee.api('PATCH', flag.path, { body: { deleted: true } });
    const reply = await burgee.api('GET', `${flag.path}status/`);
    expect(reply.body).toMatchObject({ status: 'deleted', reason: 'Flag has been deleted' });
  });

  it('a flag that does not exist, or not in this project', async () => {
    const expected = {
      type: 'invalid_request',
      code: 'not_found',
      detail: 'Not found.',
      attr: null,
      status: 'unknown',
      reason: 'Flag could not be found',
    };
    const unknown = await burgee.api('GET', `${FLAGS}999999/status/`);
    expect(unknown.status).toBe(404);
    expect(unknown.body).toEqual(expected);
    const other = await burgee.createProject();
    const [theirs] = await burgee
      .db('feature_flags')
      .insert({ project_id: other.id, key: 'theirs' })
      .returning('id');
    const foreign = await burgee.api('GET', `${FLAGS}${theirs?.id}/status/`);
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(expected);
  });
});
