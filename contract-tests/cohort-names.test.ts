import { afterAll, beforeAll, expect, it } from 'vitest';
import { pick, pickList } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;
let known = 0;
let foreign = 0;
let gone = 0;
let flag: TestFlag;

beforeAll(async () => {
  burgee = await startBurgee();
  const other = await burgee.createProject();
  known = await createCohort({ project_id: 1, name: 'Paying' });
  foreign = await createCohort({ project_id: other.id, name: 'Not ours' });
  gone = await createCohort({ project_id: 1, name: 'Gone', deleted: true });
  flag = await burgee.createFlag({ key: 'targeted', filters: filtersOn(known) });
});

afterAll(async () => {
  await burgee.stop();
});

async function createCohort(row: { project_id: number; name: string; deleted?: boolean }) {
  const [made] = await burgee.db('cohorts').insert(row).returning('id');
  return made?.id ?? 0;
}

/** Conditions on the cohorts, each with a name that is out of date. */
function filtersOn(...ids: readonly number[]) {
  const properties = ids.map((value) => ({
    key: 'id',
    type: 'cohort',
    operator: 'in',
    value,
    cohort_name: 'Old name',
  }));
  return { groups: [{ properties, rollout_percentage: 100 }, { rollout_percentage: 5 }] };
}

const namesIn = (body: unknown) =>
  pickList(body, 'filters', 'groups', 0, 'properties').map((each) => pick(each, 'cohort_name'));

it('tells the name of a cohort in every reply with a flag', async () => {
  expect(namesIn(flag.body)).toEqual(['Paying']);
  expect(namesIn((await burgee.api('GET', flag.path)).body)).toEqual(['Paying']);
  const patched = await burgee.api('PATCH', flag.path, { body: { name: 'x' } });
  expect(namesIn(patched.body)).toEqual(['Paying']);
  const put = await burgee.api('PUT', flag.path, { body: { key: 'targeted' } });
  expect(namesIn(put.body)).toEqual(['Paying']);
  const { body } = await burgee.api('GET', FLAGS, { query: { key: 'targeted' } });
  expect(namesIn(pick(body, 'results', 0))).toEqual(['Paying']);
});

it('tells the name that the cohort has now', async () => {
  await burgee.db('cohorts').where({ id: known }).update({ name: 'Paying customers' });
  expect(namesIn((await burgee.api('GET', flag.path)).body)).toEqual(['Paying customers']);
});

it('tells null for a cohort that is deleted, unknown or of another project', async () => {
  const filters = filtersOn(gone, foreign, 999_999);
  await burgee
    .db('feature_flags')
    .where({ id: flag.id })
    .update({
      filters: JSON.stringify(filters),
    });
  expect(namesIn((await burgee.api('GET', flag.path)).body)).toEqual([null, null, null]);
});

it('adds nothing to conditions and properties that name no cohort', async () => {
  const filters = { groups: [{ properties: [{ key: 'plan', value: 'pro', type: 'person' }] }, {}] };
  const plain = await burgee.createFlag({ filters });
  expect(pick(plain.body, 'filters')).toEqual(filters);
});
