import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const TYPES = '/api/projects/1/groups_types/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
  const body = {
    api_key: burgee.projectApiKey,
    event: 'seen',
    distinct_id: 'p',
    properties: { $groups: { company: 'acme', team: 'red' } },
  };
  expect((await burgee.request('POST', '/i/v0/e/', { body })).status).toBe(200);
});

afterAll(async () => {
  await burgee.stop();
});

const rename = (body: unknown, path = TYPES) => burgee.api('PATCH', path, { body });

describe('the group types of a project', () => {
  it('are listed by index, and only those of the project', async () => {
    const list = await burgee.api('GET', TYPES);
    const unnamed = { name_singular: null, name_plural: null, created_at: expect.any(String) };
    expect([list.status, list.body]).toEqual([
      200,
      [
        { group_type: 'company', group_type_index: 0, ...unnamed },
        { group_type: 'team', group_type_index: 1, ...unnamed },
      ],
    ]);
    const other = await burgee.createProject();
    const { key } = await burgee.createKey({ memberOf: [other.id] });
    const theirs = await burgee.request('GET', `/api/projects/${other.id}/groups_types/`, { key });
    expect(theirs.body).toEqual([]);
  });

  it('get names, keep those that are left out, and lose those that are null', async () => {
    const namesOf = (body: unknown) =>
      pickList(body).map((each) => [pick(each, 'name_singular'), pick(each, 'name_plural')]);
    const both = await rename([
      { group_type_index: 0, name_singular: 'company', name_plural: 'companies' },
      { group_type_index: 1, name_singular: 'team' },
    ]);
    expect(namesOf(both.body)).toEqual([
      ['company', 'companies'],
      ['team', null],
    ]);
    const one = await rename(
      [{ group_type_index: 0, name_plural: null }],
      `${TYPES}update_metadata/`,
    );
    expect(namesOf(one.body)).toEqual([
      ['company', null],
      ['team', null],
    ]);
    expect((await burgee.api('GET', TYPES)).body).toEqual(one.body);
    expect((await rename([])).body).toEqual(one.body);
  });

  it('keep all their names when one of the new ones is refused', async () => {
    const before = (await burgee.api('GET', TYPES)).body;
    const reply = await rename([
      { group_type_index: 0, name_singular: 'firm' },
      { group_type_index: 3, name_singular: 'nothing' },
    ]);
    expect([reply.status, reply.body]).toEqual([
      400,
      {
        type: 'validation_error',
        code: 'does_not_exist',
        detail: 'There is no group type with this index.',
        attr: '1__group_type_index',
      },
    ]);
    expect((await burgee.api('GET', TYPES)).body).toEqual(before);
  });

  it.each([
    [{}, null, 'not_a_list'],
    [[{ name_singular: 'x' }], '0__group_type_index', 'required'],
    [[{ group_type_index: 5 }], '0__group_type_index', 'max_value'],
    [[{ group_type_index: 0, name_singular: '' }], '0__name_singular', 'blank'],
    [[{ group_type_index: 0, name_plural: 'x'.repeat(401) }], '0__name_plural', 'max_length'],
    [
      [{ group_type_index: 0, name_plural: 'a\u0000' }],
      '0__name_plural',
      'null_characters_not_allowed',
    ],
    [Array.from({ length: 6 }, () => ({ group_type_index: 0 })), null, 'max_length'],
  ])('are not named by %j', async (body, attr, code) => {
    const reply = await rename(body);
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ type: 'validation_error', code, attr });
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
