import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;
let base: TestFlag;
let child: TestFlag;
let alone: TestFlag;

beforeAll(async () => {
  burgee = await startBurgee();
  base = await burgee.createFlag({ key: 'base' });
  child = await burgee.createFlag({ key: 'child', name: 'Child', filters: on(base.id) });
  await burgee.createFlag({ key: 'also', filters: on(base.id) });
  await burgee.createFlag({ key: 'grandchild', filters: on(child.id) });
  await burgee.createFlag({ key: 'off', active: false, filters: on(base.id) });
  const gone = await burgee.createFlag({ key: 'gone', filters: on(base.id) });
  await burgee.api('PATCH', gone.path, { body: { deleted: true } });
  alone = await burgee.createFlag({
    key: 'alone',
    filters: { groups: [{ properties: [{ key: String(base.id), type: 'person', value: 'x' }] }] },
  });
});

afterAll(async () => {
  await burgee.stop();
});

/** A second condition that needs the flag with this id. */
function on(id: number) {
  const properties = [
    { key: String(id), type: 'flag', operator: 'flag_evaluates_to', value: true },
  ];
  return { groups: [{ properties: [] }, { properties, rollout_percentage: 100 }] };
}

const entry = (flag: unknown) => ({ id: pick(flag, 'id'), key: pick(flag, 'key') });

describe('the dependents of a flag', () => {
  it('are the active flags with a condition on it, by key', async () => {
    const { status, body } = await burgee.api('GET', `${base.path}dependent_flags/`);
    expect(status).toBe(200);
    expect(body).toEqual([
      { id: expect.any(Number), key: 'also', name: 'also' },
      { ...entry(child), name: 'Child' },
    ]);
  });

  it('are told on the older path too, which says that it is going', async () => {
    const path = `${base.path}has_active_dependents/`;
    const reply = await burgee.api('POST', path);
    expect(reply.status).toBe(200);
    const { body } = await burgee.api('GET', `${base.path}dependent_flags/`);
    expect(reply.body).toEqual({ has_active_dependents: true, dependent_flags: body });
    expect(reply.headers).toMatchObject({
      deprecation: 'true',
      sunset: 'Thu, 22 Jan 2026 00:00:00 GMT',
    });
    const sent = await burgee.api('POST', path, { body: { key: 'not a key', version: 'x' } });
    expect(sent.body).toEqual(reply.body);
  });

  it('are none where nothing depends on it', async () => {
    const listed = await burgee.api('GET', `${alone.path}dependent_flags/`);
    expect(listed.body).toEqual([]);
    const told = await burgee.api('POST', `${alone.path}has_active_dependents/`);
    expect(told.body).toEqual({ has_active_dependents: false, dependent_flags: [] });
  });

  it.each([
    ['GET', 'dependent_flags'],
    ['POST', 'has_active_dependents'],
  ])('of a flag that does not exist: %s %s is 404', async (method, action) => {
    const reply = await burgee.api(method, `${FLAGS}999999/${action}/`);
    expect(reply.status).toBe(404);
    expect(reply.body).toMatchObject({ code: 'not_found', detail: 'Not found.' });
  });
});

describe('keys by ids', () => {
  const keysOf = (body: object) => burgee.api('POST', `${FLAGS}bulk_keys/`, { body });

  it('are told for numbers and digits, and for flags of the project only', async () => {
    const other = await burgee.createProject();
    const [theirs] = await burgee
      .db('feature_flags')
      .insert({ project_id: other.id, key: 'theirs' })
      .returning('id');
    const [gone] = await burgee.db('feature_flags').where({ key: 'gone' }).select('id');
    const ids = [base.id, String(child.id), 999_999, 99_999_999_999, theirs?.id, gone?.id];
    const reply = await keysOf({ ids });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toEqual({ keys: { [base.id]: 'base', [child.id]: 'child' } });
  });

  it('come with a warning about what cannot be an id', async () => {
    const reply = await keysOf({ ids: [base.id, 'x', null, -1, 1.5, true, [1], "it's"] });
    expect(reply.body).toEqual({
      keys: { [base.id]: 'base' },
      warning: `Invalid flag IDs ignored: ['x', None, -1, 1.5, True, [1], "it's"]`,
    });
  });

  it.each([[{}], [{ ids: [] }], [{ ids: null }]])('for %j are none', async (body) => {
    const reply = await keysOf(body);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ keys: {} });
  });

  it('are refused where nothing can be an id', async () => {
    const reply = await keysOf({ ids: ['x', '-1', ''] });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      error: 'Invalid flag IDs provided',
      type: 'validation_error',
      code: 'invalid_input',
      detail: 'Invalid flag IDs provided',
      attr: null,
    });
  });

  it('are refused where ids are no list, or too many', async () => {
    const text = await keysOf({ ids: 'x' });
    expect(text.status).toBe(400);
    expect(text.body).toMatchObject({ code: 'not_a_list', attr: 'ids' });
    const many = await keysOf({ ids: Array(10_001).fill(1) });
    expect(many.body).toMatchObject({ code: 'max_length', attr: 'ids' });
  });
});

describe('the ids that pass filters', () => {
  const idsFor = (query: Record<string, string>, key = burgee.personalApiKey) =>
    burgee.api('GET', `${FLAGS}matching_ids/`, { query, key });

  it('are those of the list with the same filters, on one page', async () => {
    const reply = await idsFor({ active: 'true', excluded_properties: '["also", "grandchild"]' });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ids: [alone.id, child.id, base.id], total: 3 });
    expect((await idsFor({ search: 'nothing like it' })).body).toEqual({ ids: [], total: 0 });
  });

  it('are none for a key that may not change flags', async () => {
    const { key } = await burgee.createKey({ scopes: ['feature_flag:read'] });
    expect((await idsFor({}, key)).body).toEqual({ ids: [], total: 0 });
  });

  it('are refused like the list where a filter cannot be understood', async () => {
    const reply = await idsFor({ tags: '[' });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ attr: 'tags', detail: 'Invalid JSON in tags parameter' });
  });
});
