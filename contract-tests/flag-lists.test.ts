import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickList, pickNumber, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';
const SPLIT = {
  groups: [{ properties: [], rollout_percentage: 50 }],
  multivariate: {
    variants: [
      { key: 'a', rollout_percentage: 50 },
      { key: 'b', rollout_percentage: 50 },
    ],
  },
};
const LONG_AGO = '2020-01-01T00:00:00Z';

let burgee: StartedBurgee;
let annsId = 0;

/** Oldest first; the list has them newest first. */
const FLAGS_OF_THE_TEST = [
  { key: 'web_checkout', name: 'Checkout', tags: ['web', 'team-x'], created_at: LONG_AGO },
  { key: 'split', name: 'Two ways', filters: SPLIT, tags: ['web'], evaluation_runtime: 'client' },
  { key: 'config', is_remote_configuration: true, active: false, evaluation_runtime: 'server' },
  { key: 'Called', name: '100% of a_b', last_called_at: LONG_AGO, filters: SPLIT },
  { key: 'app', tags: ['app'], evaluation_tags: ['app'], last_called_at: new Date().toISOString() },
];

beforeAll(async () => {
  burgee = await startBurgee();
  for (const [index, flag] of FLAGS_OF_THE_TEST.entries()) {
    await burgee.createFlag({ created_at: `2026-01-0${index + 1}T00:00:00Z`, ...flag });
  }
  const ann = await burgee.createKey();
  const made = await burgee.request('POST', FLAGS, {
    key: ann.key,
    body: { key: 'anns', created_at: '2026-01-06T00:00:00Z', active: false },
  });
  annsId = pickNumber(made.body, 'created_by', 'id');
  const gone = await burgee.createFlag({ key: 'gone', tags: ['web'] });
  await burgee.api('PATCH', gone.path, { body: { deleted: true } });
});

afterAll(async () => {
  await burgee.stop();
});

async function keysFor(query: Record<string, string | number>): Promise<string[]> {
  const reply = await burgee.api('GET', FLAGS, { query });
  expect(reply.status, reply.text).toBe(200);
  const keys = pickList(reply.body, 'results').map((flag) => pickText(flag, 'key'));
  expect(pick(reply.body, 'count')).toBe(keys.length);
  return keys;
}

describe('the list of flags', () => {
  it.each<[Record<string, string | number>, string[]]>([
    [{}, ['anns', 'app', 'Called', 'config', 'split', 'web_checkout']],
    [{ active: 'true' }, ['app', 'Called', 'split', 'web_checkout']],
    [{ active: 'false' }, ['anns', 'config']],
    [{ active: 'STALE' }, ['Called', 'web_checkout']],
    [{ type: 'boolean' }, ['anns', 'app', 'config', 'web_checkout']],
    [{ type: 'multivariant' }, ['Called', 'split']],
    [{ type: 'experiment' }, []],
    [{ type: 'remote_config' }, ['config']],
    [{ evaluation_runtime: 'client' }, ['split']],
    [{ evaluation_runtime: 'server' }, ['config']],
    [{ evaluation_runtime: 'both' }, ['anns', 'app', 'Called', 'web_checkout']],
    [{ evaluation_runtime: 'all' }, ['anns', 'app', 'Called', 'web_checkout']],
    [{ search: 'CHECK' }, ['web_checkout']],
    [{ search: ' two  ways ' }, ['split']],
    [{ search: 'web checkout' }, ['web_checkout']],
    [{ search: '100%' }, ['Called']],
    [{ search: '.' }, []],
    [{ search: 'a_b' }, ['Called']],
    [{ search: '  ' }, ['anns', 'app', 'Called', 'config', 'split', 'web_checkout']],
    [{ tags: '["web"]' }, ['split', 'web_checkout']],
    [{ tags: '["team-x", "app"]' }, ['app', 'web_checkout']],
    [{ tags: '[]' }, []],
    [{ excluded_tags: '["web", "app"]' }, ['anns', 'Called', 'config']],
    [{ excluded_tags: '[]' }, ['anns', 'app', 'Called', 'config', 'split', 'web_checkout']],
    [
      { excluded_properties: '["app", "Called", "nothing"]' },
      [...['anns', 'config', 'split', 'web_checkout']],
    ],
    [{ has_evaluation_tags: 'true' }, ['app']],
    [{ has_evaluation_contexts: '1' }, ['app']],
    [{ has_evaluation_tags: 'no', active: 'true' }, ['Called', 'split', 'web_checkout']],
    [{ has_evaluation_tags: 'no', has_evaluation_contexts: 'yes' }, ['app']],
    [{ key: 'called' }, ['Called']],
    [{ key: 'call' }, []],
    [{ order: 'key' }, ['anns', 'app', 'Called', 'config', 'split', 'web_checkout']],
    [{ order: '-key' }, ['web_checkout', 'split', 'config', 'Called', 'app', 'anns']],
    [{ order: 'created_at' }, ['web_checkout', 'split', 'config', 'Called', 'app', 'anns']],
    [{ order: '-active' }, ['app', 'Called', 'split', 'web_checkout', 'anns', 'config']],
    [{ order: 'last_called_at', active: 'true' }, ['Called', 'app', 'web_checkout', 'split']],
    [{ order: '-last_called_at', active: 'true' }, ['app', 'Called', 'split', 'web_checkout']],
    [{ active: 'true', type: 'boolean', tags: '["web"]' }, ['web_checkout']],
  ])('has for %j the flags %j', async (query, keys) => {
    expect(await keysFor(query)).toEqual(keys);
  });

  it.each([
    ['%d', ['anns']],
    ['%d, 999999', ['anns']],
    ['[%d, "999999"]', ['anns']],
    ['999999', []],
    ['[]', []],
  ])('has the flags of the users %s', async (pattern, keys) => {
    const text = pattern.replace('%d', String(annsId));
    expect(await keysFor({ created_by_id: text })).toEqual(keys);
  });

  it.each<[Record<string, string>, string, string, string]>([
    [{ active: 'perhaps' }, 'active', 'invalid_choice', '"perhaps" is not a valid choice.'],
    [{ type: 'other' }, 'type', 'invalid_choice', '"other" is not a valid choice.'],
    [
      { evaluation_runtime: 'edge' },
      'evaluation_runtime',
      'invalid_choice',
      '"edge" is not a valid choice.',
    ],
    [{ order: 'filters' }, 'order', 'invalid_choice', '"filters" is not a valid choice.'],
    [{ created_by_id: 'ann' }, 'created_by_id', 'invalid_input', 'A valid integer is required.'],
    [{ created_by_id: '1,,2' }, 'created_by_id', 'invalid_input', 'A valid integer is required.'],
    [
      { created_by_id: '99999999999' },
      'created_by_id',
      'invalid_input',
      'A valid integer is required.',
    ],
    [
      { search: 'x'.repeat(201) },
      'search',
      'invalid_input',
      'Search term cannot exceed 200 characters',
    ],
    [{ tags: '[' }, 'tags', 'invalid_input', 'Invalid JSON in tags parameter'],
    [{ tags: '"web"' }, 'tags', 'invalid_input', 'tags must be a JSON array'],
    [{ tags: '[1]' }, 'tags', 'invalid_input', 'Not a valid string.'],
    [
      { tags: JSON.stringify(Array(1001).fill('a')) },
      'tags',
      'max_length',
      'Ensure this field has no more than 1000 elements.',
    ],
    [
      { tags: '["\\u0000"]' },
      'tags',
      'null_characters_not_allowed',
      'Null characters are not allowed.',
    ],
    [
      { excluded_tags: 'web' },
      'excluded_tags',
      'invalid_input',
      'Invalid JSON in excluded_tags parameter',
    ],
    [
      { excluded_properties: '{}' },
      'excluded_properties',
      'invalid_input',
      'excluded_properties must be a JSON array',
    ],
    [
      { has_evaluation_tags: 'perhaps' },
      'has_evaluation_tags',
      'invalid_input',
      'Must be a valid boolean.',
    ],
    [{ key: 'a\0b' }, 'key', 'null_characters_not_allowed', 'Null characters are not allowed.'],
    [{ limit: '-1' }, 'limit', 'min_value', 'Ensure this value is greater than or equal to 0.'],
    [{ offset: 'x' }, 'offset', 'invalid_input', 'A valid integer is required.'],
  ])('refuses %j and names the field', async (query, attr, code, detail) => {
    const reply = await burgee.api('GET', FLAGS, { query });
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body).toEqual({ type: 'validation_error', code, detail, attr });
  });

  it('links to the pages beside it with the same filters, sorted by name', async () => {
    const query = { tags: '["web"]', limit: 1, offset: 1, active: 'true', other: 'kept' };
    const { body } = await burgee.api('GET', FLAGS, { query });
    const link = `${burgee.url}${FLAGS}?active=true&limit=1`;
    expect(body).toMatchObject({
      count: 2,
      next: null,
      previous: `${link}&other=kept&tags=%5B%22web%22%5D`,
    });
    const first = await burgee.api('GET', pickText(body, 'previous').slice(burgee.url.length));
    expect(first.body).toMatchObject({
      count: 2,
      next: `${link}&offset=1&other=kept&tags=%5B%22web%22%5D`,
      previous: null,
    });
  });

  it('counts what passes the filters on a page behind the end, too', async () => {
    const { body } = await burgee.api('GET', FLAGS, { query: { tags: '["web"]', offset: 10 } });
    expect(body).toMatchObject({ count: 2, results: [] });
  });
});
