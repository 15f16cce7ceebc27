import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList, pickNumber } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

let burgee: StartedBurgee;
let other: { readonly key: string; readonly email: string };

beforeAll(async () => {
  burgee = await startBurgee();
  other = await burgee.createKey({ scopes: ['feature_flag:write'] });
});

afterAll(async () => {
  await burgee.stop();
});

const patch = (flag: TestFlag, body: object) => burgee.api('PATCH', flag.path, { body });

/** What somebody else does in the meantime. */
const meanwhile = (flag: TestFlag, body: object) =>
  burgee.request('PATCH', flag.path, { key: other.key, body });

function conflictWith(name: string) {
  return {
    type: 'server_error',
    code: 'conflict',
    detail: `The feature flag was updated by ${name} since you started editing it. Please refresh and try again.`,
    attr: null,
  };
}

const rollout = (percentage: number) => ({ groups: [{ rollout_percentage: percentage }] });

describe('a change from a version that is gone', () => {
  it.each(['PATCH', 'PUT'])('is refused when both changed a field: %s', async (method) => {
    const flag = await burgee.createFlag({ name: 'first' });
    await meanwhile(flag, { name: 'theirs' });
    const reply = await burgee.api(method, flag.path, {
      body: { key: flag.key, name: 'mine', version: 1, original_flag: flag.body },
    });
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(conflictWith(other.email));
    expect((await burgee.api('GET', flag.path)).body).toMatchObject({ name: 'theirs', version: 2 });
  });

  it('names another user when the one who did it is gone', async () => {
    const flag = await burgee.createFlag({ name: 'first' });
    await meanwhile(flag, { name: 'theirs' });
    await burgee.db('feature_flags').where({ id: flag.id }).update({ last_modified_by: null });
    const reply = await patch(flag, { name: 'mine', version: 1, original_flag: flag.body });
    expect(reply.body).toEqual(conflictWith('another user'));
  });

  it.each<[string, object, object, object]>([
    ['filters', { filters: rollout(10) }, { filters: rollout(20) }, { filters: rollout(30) }],
    [
      'filters, of which one sends a part',
      { filters: rollout(10) },
      { filters: { payloads: { true: '1' } } },
      { filters: rollout(30) },
    ],
    ['tags', { tags: ['a'] }, { tags: ['b'] }, { tags: ['c'] }],
    ['whether it is on', { active: true }, { active: false, name: 'x' }, { name: 'y' }],
    ['contexts', { tags: [] }, { evaluation_tags: ['b'] }, { evaluation_contexts: ['c'] }],
    [
      'a time',
      { last_called_at: '2026-01-01T00:00:00Z' },
      { last_called_at: '2026-01-02T00:00:00Z' },
      { last_called_at: '2026-01-03T00:00:00Z' },
    ],
  ])('is refused for %s', async (_what, before, theirs, mine) => {
    const flag = await burgee.createFlag(before);
    await meanwhile(flag, theirs);
    const reply = await patch(flag, { ...mine, version: 1, original_flag: flag.body });
    expect(reply.status).toBe(409);
  });

  it('does not set back what somebody else changed, when the whole flag is sent', async () => {
    const flag = await burgee.createFlag({ name: 'first', tags: ['a'], filters: rollout(10) });
    await meanwhile(flag, { filters: rollout(20), active: false, evaluation_tags: ['web'] });
    const whole = Object.assign({}, flag.body, { name: 'mine', original_flag: flag.body });
    const reply = await burgee.api('PUT', flag.path, { body: whole });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({
      name: 'mine',
      active: false,
      filters: rollout(20),
      evaluation_tags: ['web'],
      version: 3,
    });
  });

  it('is taken when both mean the same', async () => {
    const flag = await burgee.createFlag({ name: 'first' });
    await meanwhile(flag, { name: 'same', filters: rollout(20) });
    const body = { name: 'same', filters: rollout(20), version: 1, original_flag: flag.body };
    expect((await patch(flag, body)).status).toBe(200);
  });

  it('is a change like any other when nothing is left of it', async () => {
    const flag = await burgee.createFlag({ name: 'first' });
    await meanwhile(flag, { name: 'theirs' });
    const reply = await patch(flag, { name: 'first', version: 1, original_flag: flag.body });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ name: 'theirs', version: 3 });
  });

  it('looks at filters without names that are there to be read, in the form they are stored', async () => {
    const [cohort] = await burgee
      .db('cohorts')
      .insert({ project_id: 1, name: 'C' })
      .returning('id');
    const property = { key: 'id', type: 'cohort', operator: 'in', value: cohort?.id };
    const filters = { groups: [{ properties: [property] }], payloads: { true: { a: 1 } } };
    const flag = await burgee.createFlag({ filters });
    await meanwhile(flag, { filters: rollout(20) });
    const seen = {
      groups: [{ properties: [{ ...property, cohort_name: 'C' }] }],
      payloads: { true: '{"a":1}' },
    };
    const unchanged = { filters, name: 'x', version: 1, original_flag: { filters: seen } };
    expect((await patch(flag, unchanged)).body).toMatchObject({ name: 'x', filters: rollout(20) });
  });

  it('looks at secret payloads as the client reads them', async () => {
    const secret = (payload: string) => ({ ...rollout(100), payloads: { true: payload } });
    const flag = await burgee.createFlag({
      is_remote_configuration: true,
      has_encrypted_payloads: true,
      filters: secret('"one"'),
    });
    await meanwhile(flag, { filters: secret('"two"') });
    const body = { filters: secret('"three"'), version: 1, original_flag: flag.body };
    expect((await patch(flag, body)).status).toBe(409);
    const same = { filters: secret('"one"'), name: 'x', version: 1, original_flag: flag.body };
    const reply = await patch(flag, same);
    expect(reply.status, reply.text).toBe(200);
    expect(pick(reply.body, 'filters', 'payloads')).toEqual({ true: '"two"' });
  });

  it.each<[string, object]>([
    ['no version', {}],
    ['version -1', { version: -1 }],
    ['version 0', { version: 0 }],
    ['the version that is stored', { version: 2 }],
  ])('is not looked for with %s', async (_what, version) => {
    const flag = await burgee.createFlag({ name: 'first' });
    await meanwhile(flag, { name: 'theirs' });
    const reply = await patch(flag, { name: 'mine', ...version, original_flag: flag.body });
    expect(reply.body).toMatchObject({ name: 'mine', version: 3 });
  });

  it.each<[string, object]>([
    ['none', {}],
    ['null', { original_flag: null }],
    ['an empty object', { original_flag: {} }],
    ['a list', { original_flag: ['name'] }],
    ['a text', { original_flag: 'name' }],
    ['another field', { original_flag: { tags: ['x'] } }],
  ])('is not found with this original flag: %s', async (_what, original) => {
    const flag = await burgee.createFlag({ name: 'first' });
    await meanwhile(flag, { name: 'theirs' });
    const reply = await patch(flag, { name: 'mine', version: 1, ...original });
    expect(reply.body).toMatchObject({ name: 'mine' });
  });
});

describe('several writers at once', () => {
  it('lose no update of one field without being told', async () => {
    const flag = await burgee.createFlag({ name: 'start' });
    const writers = Array.from({ length: 10 }, (_, index) => `writer ${index}`);
    const replies = await Promise.all(
      writers.map((name) => patch(flag, { name, version: 1, original_flag: flag.body })),
    );
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    const winner = writers[replies.findIndex(({ status }) => status === 200)];
    const stored = await burgee.api('GET', flag.path);
    expect(stored.body).toMatchObject({ name: winner, version: 2 });
  });

  it('all get into one list when each tries again from what it was told', async () => {
    const flag = await burgee.createFlag({ tags: [] });
    const add = async (tag: string): Promise<void> => {
      const { body } = await burgee.api('GET', flag.path);
      const tags = [...pickList(body, 'tags'), tag];
      const version = pickNumber(body, 'version');
      const reply = await patch(flag, { tags, version, original_flag: body });
      if (reply.status === 409) return add(tag);
      expect(reply.status, reply.text).toBe(200);
    };
    const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    await Promise.all(all.map(add));
    const { body } = await burgee.api('GET', flag.path);
    expect(pickList(body, 'tags').toSorted()).toEqual(all);
  });

  it('each keep their field when they send the flag whole', async () => {
    const flag = await burgee.createFlag({ name: 'start', tags: ['start'] });
    const whole = (change: object) =>
      burgee.api('PUT', flag.path, {
        body: Object.assign({}, flag.body, change, { original_flag: flag.body }),
      });
    const replies = await Promise.all([
      whole({ name: 'mine' }),
      whole({ tags: ['theirs'] }),
      whole({ active: false }),
      whole({ filters: rollout(7) }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await burgee.api('GET', flag.path)).body).toMatchObject({
      name: 'mine',
      tags: ['theirs'],
      active: false,
      filters: rollout(7),
    });
  });

  it('give one key to exactly one of 50 who want it', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () =>
        burgee.api('POST', '/api/projects/1/feature_flags/', { body: { key: 'wanted-by-all' } }),
      ),
    );
    const refused = replies.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(49);
    for (const { status, body } of refused) {
      expect(status).toBe(400);
      expect(body).toEqual({
        type: 'validation_error',
        code: 'unique',
        detail: 'There is already a feature flag with this key.',
        attr: 'key',
      });
    }
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
