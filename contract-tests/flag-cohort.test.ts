import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDisposableDatabase, type DisposableDatabase } from '../test/disposable-database.ts';
import { type BurgeeProcess, endBurgeeProcesses, startBurgeeProcess } from './burgee-process.ts';
import { type CohortWorld, createCohortWorld, person, within } from './cohort-world.ts';
import { createHttpClient, type HttpClient, type SendRequest } from './http.ts';
import { pick, pickList, pickNumber, pickText } from './read.ts';
import {
  PERSONAL_API_KEY,
  type StartedBurgee,
  startBurgee,
  type TestFlag,
} from './start-burgee.ts';

const START_TIMEOUT_MS = 90_000;

/** Persons enough that filling a cohort with them takes a while. */
const CROWD = 60_000;

let burgee: StartedBurgee;
let world: CohortWorld;

beforeAll(async () => {
  burgee = await startBurgee();
  world = createCohortWorld(burgee);
  await world.capture('seen', 'ann', { $set: { plan: 'pro' } });
  await world.capture('seen', 'bob', { $set: { plan: 'free' } });
  await burgee.db.raw(`
    WITH made AS (
      INSERT INTO persons (project_id, properties)
      SELECT 1, jsonb_build_object('plan', 'pro', 'n', n) FROM generate_series(1, 2500) AS n
      RETURNING id, properties)
    INSERT INTO person_distinct_ids SELECT 1, 'bulk ' || (properties ->> 'n'), id FROM made`);
});

afterAll(async () => {
  expect(burgee.errors()).toEqual([]);
  await burgee.stop();
});

const createCohort = (flag: TestFlag) =>
  burgee.api('POST', `${flag.path}create_static_cohort_for_flag/`);

/** Creates a cohort from a flag and waits until it is complete. */
async function fill(flag: TestFlag): Promise<unknown> {
  const created = await createCohort(flag);
  expect(created.status, created.text).toBe(201);
  return world.settled(`/api/projects/1/cohorts/${pickNumber(created.body, 'cohort', 'id')}/`);
}

const flagWith = (...groups: object[]) => burgee.createFlag({ filters: { groups } });

describe('a cohort from a flag', () => {
  it('is a static cohort named after the flag and the time', async () => {
    const flag = await flagWith({ properties: [person('plan', 'free')] });
    const before = new Date().toISOString().slice(0, 13).replace('T', ' ');
    const created = await createCohort(flag);
    expect(pick(created.body, 'cohort')).toMatchObject({
      name: expect.stringMatching(
        `^Users with feature flag ${flag.key} enabled at ${before.slice(0, 10)} \\d\\d:\\d\\d:\\d\\d$`,
      ),
      is_static: true,
      cohort_type: 'static',
      filters: null,
      groups: [],
      is_calculating: true,
      count: 0,
      errors_calculating: 0,
    });
  });

  it('has everybody for whom the flag is enabled by what is stored, and nobody else', async () => {
    const free = await fill(await flagWith({ properties: [person('plan', 'free')] }));
    expect(free).toMatchObject({ count: 1, errors_calculating: 0, last_error_message: null });
    const members = await world.get(`/api/projects/1/cohorts/${pickNumber(free, 'id')}/persons/`);
    expect(pick(members, 'results', 0, 'distinct_ids')).toEqual(['bob']);
    expect(await fill(await flagWith({}))).toMatchObject({ count: 2_502 });
  });

  it('holds exactly those whom the flag admits under their id when it is rolled out in part', async () => {
    const flag = await flagWith({
      properties: [person('n', 41, { operator: 'lt' })],
      rollout_percentage: 50,
    });
    const cohort = await fill(flag);
    const path = `/api/projects/1/cohorts/${pickNumber(cohort, 'id')}/persons/`;
    const ids = pickList(await world.get(path), 'results').map((each) =>
      pickText(each, 'distinct_ids', 0),
    );
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.length).toBeLessThan(40);
    for (let n = 1; n <= 40; n += 1) {
      expect([n, await world.enabled(flag.key, `bulk ${n}`)]).toEqual([
        n,
        ids.includes(`bulk ${n}`),
      ]);
    }
  });

  it('follows dependencies and cohorts', async () => {
    const list = await world.createStatic();
    await burgee.api('PATCH', `${list.path}add_persons_to_static_cohort/`, {
      body: { distinct_ids: ['ann', 'bob'] },
    });
    const base = await flagWith({ properties: [person('plan', 'pro')] });
    const dependency = {
      key: String(base.id),
      type: 'flag',
      operator: 'flag_evaluates_to',
      value: true,
    };
    const flag = await flagWith({ properties: [within(list.id), dependency] });
    expect(await fill(flag)).toMatchObject({ count: 1 });
  });

  it('is empty when the flag is off', async () => {
    const flag = await burgee.createFlag({ active: false });
    expect(await fill(flag)).toMatchObject({ count: 0, last_calculation: expect.any(String) });
  });

  it('tells why it could not be filled', async () => {
    const list = await world.createStatic();
    const flag = await world.flagIn(list.id);
    // Behind the back of the rules, which would refuse it.
    await burgee.db('cohorts').where({ id: list.id }).delete();
    await burgee.api('PATCH', flag.path, { body: { name: 'changed' } });
    expect(await fill(flag)).toMatchObject({
      count: 0,
      errors_calculating: 1,
      last_error_message: 'The feature flag cannot be evaluated: Cohort dependency not found.',
    });
  });

  it('is refused for a flag that decides for groups, is deleted, or does not exist', async () => {
    const groups = await burgee.createFlag({
      filters: { aggregation_group_type_index: 0, groups: [{}] },
    });
    const deleted = await burgee.createFlag();
    await burgee.api('PATCH', deleted.path, { body: { deleted: true } });
    for (const flag of [groups, deleted]) expect((await createCohort(flag)).status).toBe(400);
    const path = '/api/projects/1/feature_flags/999999/create_static_cohort_for_flag/';
    expect((await burgee.api('POST', path)).status).toBe(404);
  });
});

describe('a process that is killed while it fills a cohort', () => {
  let database: DisposableDatabase;
  const clients: HttpClient[] = [];

  beforeAll(async () => {
    database = await createDisposableDatabase();
  });

  afterAll(async () => {
    for (const client of clients) client.close();
    await endBurgeeProcesses();
    await database.destroy();
  }, START_TIMEOUT_MS);

  async function start(): Promise<{ process: BurgeeProcess; api: SendRequest }> {
    const { host, port, user, password, database: name } = database.connection;
    const [user_, password_] = [user, password].map(encodeURIComponent);
    const process = startBurgeeProcess({
      PORT: '0',
      DATABASE_URL: `postgres://${user_}:${password_}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      BURGEE_PERSONAL_API_KEY: PERSONAL_API_KEY,
    });
    const client = createHttpClient(await process.ready);
    clients.push(client);
    const api: SendRequest = (method, path, options = {}) =>
      client.send(method, path, { key: PERSONAL_API_KEY, ...options });
    return { process, api };
  }

  it(
    'is followed by one that completes it, with everybody in it once',
    async () => {
      const first = await start();
      await database.db.raw(`
      WITH made AS (INSERT INTO persons (project_id) SELECT 1 FROM generate_series(1, ${CROWD})
                    RETURNING id)
      INSERT INTO person_distinct_ids SELECT 1, 'crowd ' || id, id FROM made`);
      const body = { key: 'everybody', filters: { groups: [{}] } };
      const flag = await first.api('POST', '/api/projects/1/feature_flags/', { body });
      const created = await first.api(
        'POST',
        `/api/projects/1/feature_flags/${pickNumber(flag.body, 'id')}/create_static_cohort_for_flag/`,
      );
      const id = pickNumber(created.body, 'cohort', 'id');
      const countNow = async () =>
        (await database.db('cohorts').where({ id }).first('count'))?.count ?? 0;
      await vi.waitFor(async () => expect(await countNow()).toBeGreaterThan(0), {
        timeout: 20_000,
        interval: 5,
      });
      first.process.kill('SIGKILL');
      await first.process.ended;
      const left = await countNow();
      expect(left).toBeLessThan(CROWD);

      const second = await start();
      const cohort = await vi.waitFor(
        async () => {
          const { body: found } = await second.api('GET', `/api/projects/1/cohorts/${id}/`);
          expect(pick(found, 'is_calculating')).toBe(false);
          return found;
        },
        { timeout: 60_000, interval: 100 },
      );
      expect(cohort).toMatchObject({ count: CROWD, errors_calculating: 0 });
      const [members] = await database.db('cohort_members').where({ cohort_id: id }).count();
      expect(members?.count).toBe(CROWD);
      // It went on from where the first one stopped.
      const job = await database.db('jobs').where({ subject_id: id }).first();
      expect(job).toMatchObject({ state: 'done', attempts: 2, failures: 0 });
    },
    START_TIMEOUT_MS,
  );
});
