import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
  await burgee.createFlag({ key: 'taken' });
});

afterAll(async () => {
  await burgee.stop();
});

function fault(attr: string | null, code: string, detail: string) {
  return { type: 'validation_error', code, detail, attr };
}

const WRONG_TIME =
  'Datetime has wrong format. Use one of these formats instead: ' +
  'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';

describe('a field of a new flag', () => {
  it.each<[object, string | null, string, string]>([
    [{}, 'key', 'required', 'This field is required.'],
    [{ key: '' }, 'key', 'blank', 'This field may not be blank.'],
    [{ key: null }, 'key', 'null', 'This field may not be null.'],
    [
      { key: 'k'.repeat(401) },
      'key',
      'max_length',
      'Ensure this field has no more than 400 characters.',
    ],
    [{ key: 'taken' }, 'key', 'unique', 'There is already a feature flag with this key.'],
    ...['a.b', 'a/b', 'a\\b', 'a?b', 'a b', 'ä', 'a\n'].map(
      (key): [object, string, string, string] => [
        { key },
        'key',
        'invalid_key',
        'Only letters, numbers, hyphens (-) & underscores (_) are allowed.',
      ],
    ),
    [{ key: ['x'] }, 'key', 'invalid_input', 'Not a valid string.'],
    [
      { key: 'x', evaluation_runtime: 'both' },
      'evaluation_runtime',
      'invalid_choice',
      '"both" is not a valid choice.',
    ],
    [
      { key: 'x', bucketing_identifier: 'cookie' },
      'bucketing_identifier',
      'invalid_choice',
      '"cookie" is not a valid choice.',
    ],
    [
      { key: 'x', creation_context: 'nowhere' },
      'creation_context',
      'invalid_choice',
      '"nowhere" is not a valid choice.',
    ],
    [{ key: 'x', active: 'perhaps' }, 'active', 'invalid_input', 'Must be a valid boolean.'],
    [{ key: 'x', deleted: [] }, 'deleted', 'invalid_input', 'Must be a valid boolean.'],
    [{ key: 'x', active: null }, 'active', 'null', 'This field may not be null.'],
    [{ key: 'x', name: null }, 'name', 'null', 'This field may not be null.'],
    [
      { key: 'x', tags: 'web' },
      'tags',
      'not_a_list',
      'Expected a list of items but got type "str".',
    ],
    [{ key: 'x', tags: {} }, 'tags', 'not_a_list', 'Expected a list of items but got type "dict".'],
    [
      { key: 'x', filters: 'all' },
      'filters',
      'not_a_dict',
      'Expected a dictionary of items but got type "str".',
    ],
    [
      { key: 'x', filters: [] },
      'filters',
      'not_a_dict',
      'Expected a dictionary of items but got type "list".',
    ],
    [{ key: 'x', created_at: 'yesterday' }, 'created_at', 'invalid_input', WRONG_TIME],
    [
      { key: 'x', analytics_dashboards: [9] },
      'analytics_dashboards',
      'does_not_exist',
      'Invalid pk "9" - object does not exist.',
    ],
    [
      { key: 'x', bucketing_identifier: 'device_id', ensure_experience_continuity: true },
      null,
      'invalid_input',
      "Cannot enable 'persist across authentication steps' when using device ID bucketing. " +
        'These features are incompatible.',
    ],
    [
      { key: 'x', name: 'nul \u0000' },
      'name',
      'null_characters_not_allowed',
      'Null characters are not allowed.',
    ],
  ])('is refused in %j', async (body, attr, code, detail) => {
    const reply = await burgee.api('POST', FLAGS, { body });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(fault(attr, code, detail));
  });

  it('may have a key of 400 characters, and keys differ by case', async () => {
    for (const key of ['k'.repeat(400), 'Taken', '-', '_', '0']) {
      expect((await burgee.api('POST', FLAGS, { body: { key } })).status).toBe(201);
    }
  });

  it('keeps its own key, and cannot take that of another', async () => {
    const flag = await burgee.createFlag({ key: 'own' });
    const patch = (key: string) => burgee.api('PATCH', flag.path, { body: { key } });
    expect((await patch('own')).status).toBe(200);
    const refused = await patch('taken');
    expect(refused.body).toEqual(
      fault('key', 'unique', 'There is already a feature flag with this key.'),
    );
  });

  it('is unique even when two create it at once', async () => {
    const all = Array.from({ length: 6 }, () =>
      burgee.api('POST', FLAGS, { body: { key: 'contested' } }),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, 400, 400, 400, 400, 400]);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
