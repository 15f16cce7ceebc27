import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

const patch = (flag: TestFlag, body: object) => burgee.api('PATCH', flag.path, { body });

function fault(attr: string | null, detail: string) {
  return { type: 'validation_error', code: 'invalid_input', detail, attr };
}

describe('evaluation contexts', () => {
  const contextsOf = (body: unknown) => [
    pick(body, 'evaluation_tags'),
    pick(body, 'evaluation_contexts'),
  ];

  it.each(['evaluation_tags', 'evaluation_contexts'])(
    'are written under the name %s and told under both, tidied, whatever the tags',
    async (name) => {
      const flag = await burgee.createFlag({ tags: ['x'], [name]: [' Web ', 'web', 'IOS'] });
      const both = [
        ['web', 'ios'],
        ['web', 'ios'],
      ];
      expect(contextsOf(flag.body)).toEqual(both);
      expect(contextsOf((await patch(flag, { name: 'untouched' })).body)).toEqual(both);
      const feed = await burgee.api('GET', `${FLAGS}local_evaluation/`);
      const found = pickList(feed.body, 'flags').find((each) => pick(each, 'id') === flag.id);
      expect(contextsOf(found)).toEqual(both);
      const wanted = await burgee.evaluate({ evaluation_contexts: ['ios'] });
      expect(pick(wanted.body, 'flags', flag.key)).toBeDefined();
      const others = await burgee.evaluate({ evaluation_contexts: ['tv'] });
      expect(pick(others.body, 'flags', flag.key)).toBeUndefined();
      expect(contextsOf((await patch(flag, { [name]: [] })).body)).toEqual([[], []]);
    },
  );

  it.each([
    [{ evaluation_tags: ['b'], evaluation_contexts: ['a'] }, ['b']],
    [{ evaluation_tags: ['a'], evaluation_contexts: ['b'] }, ['b']],
    [{ evaluation_tags: ['b'], evaluation_contexts: ['c'] }, ['c']],
    [{ evaluation_tags: ['a'], evaluation_contexts: [] }, []],
  ])('sent under both names are those that the client changed: %j', async (sent, expected) => {
    const flag = await burgee.createFlag({ evaluation_tags: ['a'] });
    expect(contextsOf((await patch(flag, sent)).body)).toEqual([expected, expected]);
  });

  it.each(['evaluation_tags', 'evaluation_contexts'])('are bounded: %s', async (name) => {
    const many = (length: number) => Array.from({ length }, (_, index) => `c${index}`);
    const send = (names: readonly string[]) =>
      burgee.api('POST', FLAGS, {
        body: { key: `bounded-${name}-${names.length}`, [name]: names },
      });
    const tooMany = await send(many(51));
    expect(tooMany.status).toBe(400);
    expect(tooMany.body).toEqual(fault(name, `${name} must be a list of at most 50 items.`));
    for (const bad of ['', '  ', 'x'.repeat(256)]) {
      const reply = await send(['good', bad]);
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(fault(name, 'Invalid evaluation context name.'));
    }
    expect((await send([...many(49), 'x'.repeat(255)])).status).toBe(201);
  });
});

describe('a new remote configuration', () => {
  const create = (body: object) => burgee.createFlag({ is_remote_configuration: true, ...body });
  const everybody = { properties: [], rollout_percentage: 100, variant: null };

  it.each<[string, object, object]>([
    ['no filters', { filters: undefined }, { groups: [everybody] }],
    ['no condition', { filters: { groups: [] } }, { groups: [everybody] }],
    [
      'only a payload',
      { filters: { payloads: { true: '1' } } },
      { payloads: { true: '1' }, groups: [everybody] },
    ],
    [
      'conditions for nobody or without a share',
      { filters: { groups: [{ rollout_percentage: 0 }, {}, { rollout_percentage: 5 }] } },
      {
        groups: [
          { rollout_percentage: 100 },
          { rollout_percentage: 100 },
          { rollout_percentage: 5 },
        ],
      },
    ],
  ])('is for everybody with %s', async (_what, body, filters) => {
    expect(pick((await create(body)).body, 'filters')).toEqual(filters);
  });

  it('is refused like any other when its conditions are no list', async () => {
    const body = { key: 'x', is_remote_configuration: true, filters: { groups: 5 } };
    const reply = await burgee.api('POST', FLAGS, { body });
    expect(reply.body).toEqual(fault('filters', 'groups must be a list, got int'));
  });
});

describe('rules between fields', () => {
  it.each<[string, object, object, ReturnType<typeof fault>]>([
    [
      'secret payloads of what is no remote configuration',
      {},
      { has_encrypted_payloads: true },
      fault(null, 'Encrypted payloads require the flag to be a remote configuration.'),
    ],
    [
      'a secret without a payload',
      { is_remote_configuration: true },
      { has_encrypted_payloads: true, filters: { payloads: {} } },
      fault('filters', 'An encrypted payload is required when has_encrypted_payloads is true.'),
    ],
    [
      'continuity with devices',
      { bucketing_identifier: 'device_id' },
      { ensure_experience_continuity: true },
      fault(
        null,
        "Cannot enable 'persist across authentication steps' when using device ID bucketing. These features are incompatible.",
      ),
    ],
  ])('refuse %s, on create and on update', async (_what, stored, change, expected) => {
    const flag = await burgee.createFlag(stored);
    const updated = await patch(flag, change);
    expect(updated.status).toBe(400);
    expect(updated.body).toEqual(expected);
    const body = { key: 'never-created', filters: { groups: [{}] }, ...stored, ...change };
    if (Object.hasOwn(change, 'filters')) return;
    const created = await burgee.api('POST', FLAGS, { body });
    expect(created.status).toBe(400);
    expect(created.body).toEqual(expected);
  });
});

describe('a flag that is sent back whole', () => {
  it('stays as it is, but for its version', async () => {
    const flag = await burgee.createFlag({ tags: ['a'], evaluation_tags: ['web'] });
    const reply = await burgee.api('PUT', flag.path, { body: flag.body });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({
      ...Object.assign({}, flag.body),
      version: 2,
      updated_at: pick(reply.body, 'updated_at'),
    });
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
