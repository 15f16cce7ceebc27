import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { all, type CohortWorld, createCohortWorld, within } from './cohort-world.ts';
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

describe('a static cohort', () => {
  it('takes persons by distinct id and by uuid, and evaluation sees them at once', async () => {
    const { id, path } = await world.createStatic();
    const { key } = await world.flagIn(id);
    const row = await burgee.db('persons').whereRaw("properties ->> 'plan' = 'free'").first('uuid');
    const body = { distinct_ids: ['ann', 'ann', 'nobody'], person_ids: [row?.uuid ?? ''] };
    const added = await burgee.api('PATCH', `${path}add_persons_to_static_cohort/`, { body });
    expect(added.body).toEqual({
      success: true,
      added: 2,
      already_members: 0,
      unknown: 1,
      unknown_ids: ['nobody'],
    });
    const values = await Promise.all(['ann', 'bob', 'eve'].map((each) => world.enabled(key, each)));
    expect(values).toEqual([true, false, true]);
    expect(await world.get(path)).toMatchObject({
      count: 2,
      is_calculating: false,
      is_static: true,
    });
    const again = await burgee.api('PATCH', `${path}add_persons_to_static_cohort/`, { body });
    expect(again.body).toMatchObject({ added: 0, already_members: 2 });

    const page = await world.get(`${path}persons/?limit=1&offset=1`);
    expect(page).toMatchObject({ count: 2, next: null, previous: expect.any(String) });
    expect(pick(page, 'results', 0)).toMatchObject({ name: 'eve', properties: { plan: 'free' } });

    const removed = await burgee.api('PATCH', `${path}remove_person_from_static_cohort/`, {
      body: { person_id: row?.uuid, distinct_ids: ['bob'] },
    });
    expect(removed.body).toEqual({ success: true, removed: 1, not_members: 1 });
    expect([await world.enabled(key, 'eve'), pick(await world.get(path), 'count')]).toEqual([
      false,
      1,
    ]);
  });

  it('has cohorts that contain it counted again', async () => {
    const { id, path } = await world.createStatic();
    const outer = await world.create({ filters: all(within(id)) });
    expect(await world.settled(outer.path)).toMatchObject({ count: 0 });
    const body = { distinct_ids: ['ann', 'bob'] };
    await burgee.api('PATCH', `${path}add_persons_to_static_cohort/`, { body });
    expect(await world.settled(outer.path)).toMatchObject({ count: 2 });
  });

  it('counts two persons as one once they turn out to be the same', async () => {
    const { path } = await world.createStatic();
    for (const id of ['merge-a', 'merge-b']) await world.capture('seen', id);
    const body = { distinct_ids: ['merge-a', 'merge-b'] };
    await burgee.api('PATCH', `${path}add_persons_to_static_cohort/`, { body });
    expect(pick(await world.get(path), 'count')).toBe(2);
    await world.capture('$identify', 'merge-a', { $anon_distinct_id: 'merge-b' });
    expect(pick(await world.get(path), 'count')).toBe(1);
    expect(pickList(await world.get(`${path}persons/`), 'results')).toHaveLength(1);
  });

  it.each<[string, string, object]>([
    ['one column without a header', 'ann\r\nnobody\r\n\r\n', { added: 1, unknown: 1 }],
    ['one line that is also JSON', '12345', { added: 0, unknown_ids: ['12345'] }],
    ['a header and quotes', '\ufeffemail,distinct_id\n"a, ""b""",ann\nx,"bob"\n', { added: 2 }],
  ])('takes a CSV file: %s', async (_name, raw, expected) => {
    const { path } = await world.createStatic();
    const headers = { 'content-type': 'text/csv; charset=utf-8' };
    const reply = await burgee.api('POST', `${path}members_csv/`, { raw, headers });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.body).toMatchObject(expected);
  });

  it('takes a CSV file of 20,000 ids, half of whom are persons', async () => {
    await burgee.db.raw(`
      WITH made AS (INSERT INTO persons (project_id) SELECT 1 FROM generate_series(1, 10000)
                    RETURNING id)
      INSERT INTO person_distinct_ids SELECT 1, 'bulk ' || row_number() OVER (), id FROM made`);
    const { path } = await world.createStatic();
    const raw = Array.from({ length: 20_000 }, (_, index) => `bulk ${index + 1}`).join('\n');
    const headers = { 'content-type': 'text/csv' };
    const reply = await burgee.api('POST', `${path}members_csv/`, { raw, headers });
    expect(reply.body).toMatchObject({ added: 10_000, unknown: 10_000 });
    expect(pickList(reply.body, 'unknown_ids')).toHaveLength(100);
    await burgee.db.raw("DELETE FROM persons WHERE properties = '{}'");
  });

  it.each([
    ['nothing', '', 'contains no ids'],
    ['an open quotation mark', 'ann\n"bob', 'ends inside quotation marks'],
    ['a person id that is none', 'person_id\nx', 'Row 2: not a person id.'],
    ['an endless id', 'x'.repeat(401), 'at most 400 characters'],
  ])('refuses a CSV file with %s', async (_name, raw, detail) => {
    const { path } = await world.createStatic();
    const headers = { 'content-type': 'text/csv' };
    const reply = await burgee.api('POST', `${path}members_csv/`, { raw, headers });
    expect([reply.status, pick(reply.body, 'attr')]).toEqual([400, 'csv']);
    expect(pickText(reply.body, 'detail')).toContain(detail);
  });

  it('stays static, and its list is not changed once it is deleted', async () => {
    const { path } = await world.createStatic();
    const turned = await burgee.api('PATCH', path, { body: { is_static: false } });
    expect([turned.status, pick(turned.body, 'attr')]).toEqual([400, 'is_static']);
    await burgee.api('PATCH', path, { body: { deleted: true } });
    const body = { distinct_ids: ['ann'] };
    const added = await burgee.api('PATCH', `${path}add_persons_to_static_cohort/`, { body });
    expect(added.status).toBe(400);
  });

  it('needs somebody to be named', async () => {
    const { path } = await world.createStatic();
    for (const end of ['add_persons_to_static_cohort/', 'remove_person_from_static_cohort/']) {
      const reply = await burgee.api('PATCH', `${path}${end}`, { body: {} });
      expect([reply.status, pick(reply.body, 'code')]).toEqual([400, 'required']);
    }
  });
});
