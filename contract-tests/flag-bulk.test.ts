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
const read = async (flag: TestFlag) => (await burgee.api('GET', flag.path)).body;
const activityOf = async (flag: TestFlag) =>
  pickList((await burgee.api('GET', `${flag.path}activity/`)).body, 'results');
const bulkDelete = (body: object) => burgee.api('POST', `${FLAGS}bulk_delete/`, { body });
const bulkTags = (body: object) => burgee.api('POST', `${FLAGS}bulk_update_tags/`, { body });

const having = (...ids: number[]) => ({
  groups: [
    {
      properties: ids.map((id) => ({
        key: String(id),
        type: 'flag',
        operator: 'flag_evaluates_to',
        value: true,
      })),
      rollout_percentage: 100,
    },
  ],
});

function refusal(detail: string) {
  return { error: detail, type: 'validation_error', code: 'invalid_input', detail, attr: null };
}

describe('deleting many flags', () => {
  it('says of each what became of it', async () => {
    const full = await burgee.createFlag();
    const off = await burgee.createFlag({ active: false });
    const closed = await burgee.createFlag({ filters: { groups: [{ rollout_percentage: 0 }] } });
    const partial = await burgee.createFlag({ filters: { groups: [{ rollout_percentage: 5 }] } });
    const split = await burgee.createFlag({
      filters: {
        groups: [{ rollout_percentage: 100 }],
        multivariate: {
          variants: [
            { key: 'a', rollout_percentage: 50 },
            { key: 'b', rollout_percentage: 50 },
          ],
        },
      },
    });
    const constant = await burgee.createFlag({
      filters: {
        groups: [{ variant: 'b' }],
        multivariate: {
          variants: [
            { key: 'a', rollout_percentage: 50 },
            { key: 'b', rollout_percentage: 50 },
          ],
        },
      },
    });
    const gone = await burgee.createFlag();
    await patch(gone, { deleted: true });
    const flags = [full, off, closed, partial, split, constant];
    const reply = await bulkDelete({
      ids: [...flags.map(({ id }) => id), 'x', String(full.id), -1, 999_999, gone.id],
    });
    expect(reply.status, reply.text).toBe(200);
    const states = [
      ['fully_rolled_out', null],
      ['not_rolled_out', null],
      ['not_rolled_out', null],
      ['partial', null],
      ['partial', null],
      ['fully_rolled_out', 'b'],
    ] as const;
    expect(reply.body).toEqual({
      deleted: flags.map(({ id, key }, index) => ({
        id,
        key,
        rollout_state: states[index]?.[0],
        active_variant: states[index]?.[1],
      })),
      errors: [
        { id: 'x', reason: 'Invalid flag ID format' },
        { id: -1, reason: 'Invalid flag ID format' },
        { id: 999_999, reason: 'Flag not found' },
        { id: gone.id, reason: 'Flag not found' },
      ],
    });
    for (const flag of flags) {
      expect(await read(flag)).toMatchObject({ deleted: true, version: 2 });
      expect(pick((await burgee.evaluate()).body, 'flags', flag.key)).toBeUndefined();
    }
    expect(await activityOf(full)).toMatchObject([{ activity: 'deleted' }, {}]);
  });

  it('leaves a flag that others depend on, unless they go with it', async () => {
    const base = await burgee.createFlag();
    const middle = await burgee.createFlag({ filters: having(base.id) });
    const tops: TestFlag[] = [];
    for (let at = 0; at < 4; at += 1) {
      tops.push(
        await burgee.createFlag({ key: `${base.key}-top-${at}`, filters: having(middle.id) }),
      );
    }
    const refused = await bulkDelete({ ids: [base.id, middle.id] });
    const names = tops.slice(0, 3).map(({ key, id }) => `${key} (ID: ${id})`);
    expect(refused.body).toEqual({
      deleted: [],
      errors: [
        {
          id: base.id,
          key: base.key,
          reason: `Cannot delete because other flags depend on it: ${middle.key} (ID: ${middle.id})`,
        },
        {
          id: middle.id,
          key: middle.key,
          reason: `Cannot delete because other flags depend on it: ${names.join(', ')}, and 1 more`,
        },
      ],
    });
    expect(await read(base)).toEqual(base.body);
    const all = [base, middle, ...tops].map(({ id }) => id);
    const reply = await bulkDelete({ ids: all });
    expect(pickList(reply.body, 'deleted').map((each) => pick(each, 'id'))).toEqual(all);
    expect(pick(reply.body, 'errors')).toEqual([]);
  });

  it('touches no flag of another project', async () => {
    const { id: projectId } = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [projectId] });
    const flag = await burgee.createFlag();
    const reply = await burgee.request(
      'POST',
      `/api/projects/${projectId}/feature_flags/bulk_delete/`,
      {
        key,
        body: { ids: [flag.id] },
      },
    );
    expect(reply.body).toEqual({
      deleted: [],
      errors: [{ id: flag.id, reason: 'Flag not found' }],
    });
    expect(await read(flag)).toEqual(flag.body);
  });

  it('can delete all flags that pass filters, and no other', async () => {
    const old = await burgee.createFlag({ key: 'filtered-old', tags: ['unused'] });
    const needed = await burgee.createFlag({ key: 'filtered-needed', tags: ['unused'] });
    const child = await burgee.createFlag({ filters: having(needed.id) });
    const other = await burgee.createFlag({ key: 'filtered-other', tags: ['used'] });
    const filters = { search: 'filtered', tags: ['unused'], active: 'true' };
    const reply = await bulkDelete({ filters });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject({
      deleted: [{ id: old.id }],
      errors: [{ id: needed.id, key: needed.key }],
    });
    for (const flag of [needed, child, other]) expect(await read(flag)).toEqual(flag.body);
  });

  it('names a filter that cannot be understood', async () => {
    const reply = await bulkDelete({ filters: { active: 'perhaps' } });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ code: 'invalid_choice', attr: 'active' });
  });

  it.each([
    [{}, 'Must provide either filters or ids'],
    [{ filters: {} }, 'Must provide either filters or ids'],
    [{ filters: { active: null } }, 'Must provide either filters or ids'],
    [{ ids: [] }, 'No flag IDs provided'],
    [{ ids: [1], filters: { active: 'true' } }, 'Provide either filters or ids, not both'],
    [{ filters: { colour: 'red', size: 1 } }, 'Unknown filter keys: colour, size'],
  ])('is refused for %j', async (body, detail) => {
    const reply = await bulkDelete(body);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(refusal(detail));
  });
});

describe('changing the tags of many flags', () => {
  it.each([
    ['add', ['b', 'c', 'c'], ['a', 'b', 'c']],
    ['remove', ['a', 'z'], ['b']],
    ['set', ['z', 'z', 'y'], ['z', 'y']],
    ['set', [], []],
  ])('can %s %j', async (action, tags, expected) => {
    const flag = await burgee.createFlag({ name: 'kept', tags: ['a', 'b'] });
    const reply = await bulkTags({ ids: [flag.id, 'x'], action, tags });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({
      updated: [{ id: flag.id, key: flag.key, tags: expected }],
      errors: [{ id: 'x', reason: 'Invalid flag ID format' }],
    });
    expect(await read(flag)).toMatchObject({ tags: expected, version: 2, name: 'kept' });
    const [entry] = await activityOf(flag);
    const changes = pickList(entry, 'detail', 'changes');
    expect(changes).toContainEqual(
      expect.objectContaining({ field: 'tags', before: ['a', 'b'], after: expected }),
    );
  });

  it('keeps the version of a flag that has them already', async () => {
    const [same, other] = [
      await burgee.createFlag({ tags: ['a'] }),
      await burgee.createFlag({ tags: [] }),
    ];
    const reply = await bulkTags({ ids: [same.id, other.id], action: 'add', tags: ['a'] });
    expect(pickList(reply.body, 'updated')).toHaveLength(2);
    expect(await read(same)).toEqual(same.body);
    expect(await read(other)).toMatchObject({ version: 2 });
  });

  it('leaves a flag that would have too many', async () => {
    const tags = Array.from({ length: 1_000 }, (_, index) => `tag-${index}`);
    const full = await burgee.createFlag({ tags });
    const reply = await bulkTags({ ids: [full.id], action: 'add', tags: ['one-more'] });
    expect(reply.body).toEqual({
      updated: [],
      errors: [{ id: full.id, key: full.key, reason: 'A flag can have at most 1000 tags' }],
    });
  });

  it.each([
    [{ ids: [], action: 'add', tags: [] }, refusal('No flag IDs provided')],
    [
      { ids: [1], action: 'drop', tags: [] },
      {
        type: 'validation_error',
        code: 'invalid_choice',
        detail: '"drop" is not a valid choice.',
        attr: 'action',
      },
    ],
    [
      { ids: [1], action: 'add', tags: ['nul \u0000'] },
      {
        type: 'validation_error',
        code: 'null_characters_not_allowed',
        detail: 'Null characters are not allowed.',
        attr: 'tags',
      },
    ],
  ])('is refused for %j', async (body, expected) => {
    const reply = await bulkTags(body);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(expected);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
