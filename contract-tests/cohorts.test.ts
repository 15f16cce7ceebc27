import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  all,
  COHORTS,
  type CohortWorld,
  createCohortWorld,
  person,
  within,
} from './cohort-world.ts';
import { pick, pickList, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

let burgee: StartedBurgee;
let world: CohortWorld;

beforeAll(async () => {
  burgee = await startBurgee();
  world = createCohortWorld(burgee);
  await world.captureThree();
});

afterAll(async () => {
  expect(burgee.errors()).toEqual([]);
  await burgee.stop();
});

describe('a dynamic cohort', () => {
  it('has every documented field, and a count once it was counted', async () => {
    const filters = all(person('plan', 'pro'));
    const { path, body } = await world.create({ name: 'Pros', description: 'Who pays', filters });
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'Pros',
      description: 'Who pays',
      groups: [],
      deleted: false,
      filters,
      query: null,
      is_calculating: true,
      created_by: expect.objectContaining({ email: expect.any(String) }),
      created_at: expect.any(String),
      last_calculation: null,
      errors_calculating: 0,
      last_error_message: null,
      count: null,
      is_static: false,
      cohort_type: 'person_property',
      experiment_set: [],
    });
    expect(await world.settled(path)).toMatchObject({
      count: 2,
      last_calculation: expect.any(String),
    });
  });

  it('decides flags as soon as it was created or changed', async () => {
    const { id, path } = await world.create({ filters: all(person('plan', 'pro')) });
    const { key } = await world.flagIn(id);
    expect([await world.enabled(key, 'ann'), await world.enabled(key, 'eve')]).toEqual([
      true,
      false,
    ]);
    const body = { filters: all(person('plan', 'free')) };
    expect((await burgee.api('PATCH', path, { body })).status).toBe(200);
    expect([await world.enabled(key, 'ann'), await world.enabled(key, 'eve')]).toEqual([
      false,
      true,
    ]);
    expect(await world.settled(path)).toMatchObject({ count: 1 });
  });

  it('is counted again when a cohort that it contains changes', async () => {
    const inner = await world.create({ filters: all(person('plan', 'pro')) });
    const outer = await world.create({ filters: all(within(inner.id, { negation: true })) });
    expect(await world.settled(outer.path)).toMatchObject({ count: 1 });
    await burgee.api('PATCH', inner.path, { body: { filters: all(person('plan', 'free')) } });
    expect(await world.settled(outer.path)).toMatchObject({ count: 2 });
  });

  it('can be written in the older form', async () => {
    const groups = [{ properties: [{ key: 'plan', value: 'free' }] }];
    const { path, body } = await world.create({ groups });
    expect(body).toMatchObject({ groups, filters: null });
    expect(await world.settled(path)).toMatchObject({ count: 1 });
    const filters = all(person('plan', 'pro'));
    const changed = await burgee.api('PATCH', path, { body: { filters } });
    expect(changed.body).toMatchObject({ groups: [], filters });
  });

  it('keeps its filters when only its name changes', async () => {
    const { path, body } = await world.create({ filters: all(person('plan', 'pro')) });
    const changed = await burgee.api('PATCH', path, { body: { name: 'b', description: null } });
    expect(changed.body).toMatchObject({
      name: 'b',
      description: '',
      filters: pick(body, 'filters'),
    });
  });

  it('lists no persons and takes none', async () => {
    const { path } = await world.create({ filters: all(person('plan', 'pro')) });
    expect((await burgee.api('GET', `${path}persons/`)).status).toBe(400);
    const body = { distinct_ids: ['ann'] };
    const added = await burgee.api('PATCH', `${path}add_persons_to_static_cohort/`, { body });
    expect(added.status).toBe(400);
  });
});

describe('deleting a cohort', () => {
  it('is refused while active flags use it, with their keys, and then works', async () => {
    const { id, path } = await world.create({ filters: all(person('plan', 'pro')) });
    const flag = await world.flagIn(id);
    const refused = await burgee.api('PATCH', path, { body: { deleted: true } });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({
      attr: null,
      detail:
        `This cohort is used in 1 active feature flag(s): ${flag.key}. ` +
        'Please remove the cohort from these feature flags before deleting it.',
    });
    await burgee.api('PATCH', flag.path, { body: { active: false } });
    const deleted = await burgee.api('PATCH', path, { body: { deleted: true } });
    expect(deleted.body).toMatchObject({ deleted: true });
    expect(await world.get(path)).toMatchObject({ deleted: true });
    expect(
      pickList(await world.get(COHORTS), 'results').map((each) => pick(each, 'id')),
    ).not.toContain(id);
  });

  it('is refused while other cohorts use it, with their names', async () => {
    const { id, path } = await world.createStatic();
    await world.create({ name: 'The outer one', filters: all(within(id)) });
    const refused = await burgee.api('PATCH', path, { body: { deleted: true } });
    expect(pickText(refused.body, 'detail')).toContain('1 other cohort(s): The outer one.');
  });

  it('can be taken back', async () => {
    const { path } = await world.createStatic();
    await burgee.api('PATCH', path, { body: { deleted: true } });
    const restored = await burgee.api('PATCH', path, { body: { deleted: false } });
    expect(restored.body).toMatchObject({ deleted: false });
  });

  it('is refused as a hard delete, also of what does not exist', async () => {
    const reply = await burgee.api('DELETE', `${COHORTS}999999/`);
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD, PATCH, OPTIONS']);
  });
});

describe('the list of cohorts', () => {
  it('is searched by name and paged, newest first', async () => {
    for (const name of ['Needle 1', 'a needle 2', 'NEEDLE%3']) await world.createStatic(name);
    const page = await world.get(`${COHORTS}?search=needle&limit=2`);
    expect(page).toMatchObject({ count: 3, previous: null });
    expect(pickList(page, 'results').map((each) => pick(each, 'name'))).toEqual([
      'NEEDLE%3',
      'a needle 2',
    ]);
    const next = new URL(pickText(page, 'next'));
    expect(next.search).toBe('?limit=2&offset=2&search=needle');
    expect(pickList(await world.get(`${COHORTS}?search=e%25`), 'results')).toHaveLength(1);
  });

  it('and everything in it belongs to one project', async () => {
    const other = await burgee.createProject('Others');
    const key = await burgee.createKey({ memberOf: [other.id] });
    const { id } = await world.createStatic();
    const path = `/api/projects/${other.id}/cohorts/`;
    const list = await burgee.request('GET', path, { key: key.key });
    expect(pick(list.body, 'count')).toBe(0);
    const found = await burgee.request('GET', `${path}${id}/`, { key: key.key });
    expect(found.status).toBe(404);
    const body = { name: 'x', filters: all(within(id)) };
    const created = await burgee.request('POST', path, { key: key.key, body });
    expect(pick(created.body, 'code')).toBe('cohort_does_not_exist');
  });
});

it('notes changes in the activity log', async () => {
  const { id, path } = await world.createStatic('Before');
  await burgee.api('PATCH', path, { body: { name: 'After' } });
  await burgee.api('PATCH', path, { body: { deleted: true } });
  const rows = await burgee
    .db('activity_log')
    .where({ scope: 'Cohort', item_id: String(id) })
    .orderBy('sequence')
    .pluck('activity');
  expect(rows).toEqual(['created', 'updated', 'deleted']);
});
