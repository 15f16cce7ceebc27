import { pickNumber } from '../read.ts';
import {
  type CoverageTable,
  type CoverageWorld,
  FLAGS,
  flag,
  keyed,
  type Provoke,
  reading,
  refusals,
  writing,
} from './provoke.ts';

const COHORTS = '/api/projects/1/cohorts/';
const MISSING_PROJECT = '/api/projects/999999/cohorts/';
const MISSING = `${COHORTS}999999/`;
const FILTERS = { properties: { type: 'AND', values: [{ key: 'a', type: 'person', value: 'b' }] } };
const CSV = { 'content-type': 'text/csv' };

const cohorts = () => COHORTS;
/** Some cohort, for requests that are refused before it is looked up. */
const anyCohort = (end: string) => () => `${COHORTS}1/${end}`;

/** The path of a new static cohort. */
async function newCohort({ burgee }: CoverageWorld): Promise<string> {
  const body = { name: 'covered', is_static: true };
  return `${COHORTS}${pickNumber((await burgee.api('POST', COHORTS, { body })).body, 'id')}/`;
}

/** The statuses of an operation on a new static cohort that takes a body. */
function changing(method: string, end: string, body: object, invalid: object) {
  const on =
    (options: object): Provoke =>
    async (world) =>
      world.send(method, `${await newCohort(world)}${end}`, keyed(world, options));
  return {
    ...writing(method, anyCohort(end), 200, {}),
    ...refusals(method, anyCohort(end), null),
    200: on({ body }),
    400: on({ body: invalid }),
    404: (world: CoverageWorld) => world.send(method, `${MISSING}${end}`, keyed(world, { body })),
  };
}

/** The operations on cohorts. */
export const cohortOperations: CoverageTable = {
  listCohorts: {
    ...reading(cohorts, 200, 'limit=many'),
    ...refusals('GET', cohorts, () => MISSING_PROJECT),
  },
  createCohort: {
    ...writing('POST', cohorts, 201, { name: 'covered', filters: FILTERS }),
    ...refusals('POST', cohorts, () => MISSING_PROJECT),
    404: (world) =>
      world.send('POST', MISSING_PROJECT, keyed(world, { body: { name: 'x', filters: FILTERS } })),
  },
  getCohort: {
    ...refusals('GET', anyCohort(''), () => MISSING),
    200: async (world) => world.send('GET', await newCohort(world), keyed(world)),
  },
  updateCohort: changing('PATCH', '', { name: 'changed' }, { name: '' }),
  deleteCohort: {
    ...refusals('DELETE', anyCohort(''), () => `${MISSING_PROJECT}1/`),
    405: (world) => world.send('DELETE', MISSING, keyed(world)),
  },
  listCohortPersons: {
    ...refusals('GET', anyCohort('persons/'), () => `${MISSING}persons/`),
    200: async (world) => world.send('GET', `${await newCohort(world)}persons/`, keyed(world)),
    400: (world) => world.send('GET', `${COHORTS}1/persons/?limit=many`, keyed(world)),
  },
  addPersonsToStaticCohort: changing(
    'PATCH',
    'add_persons_to_static_cohort/',
    { distinct_ids: ['somebody'] },
    {},
  ),
  removePersonFromStaticCohort: changing(
    'PATCH',
    'remove_person_from_static_cohort/',
    { distinct_ids: ['somebody'] },
    { person_id: 'no uuid' },
  ),
  uploadCohortMembers: {
    ...changing('POST', 'members_csv/', {}, {}),
    200: async (world) =>
      world.send(
        'POST',
        `${await newCohort(world)}members_csv/`,
        keyed(world, { raw: 'somebody', headers: CSV }),
      ),
    400: (world) =>
      world.send('POST', `${COHORTS}1/members_csv/`, keyed(world, { raw: '', headers: CSV })),
    404: (world) =>
      world.send('POST', `${MISSING}members_csv/`, keyed(world, { raw: 'ann', headers: CSV })),
  },
  createStaticCohortForFlag: {
    ...refusals('POST', flagEnd('create_static_cohort_for_flag/'), null),
    201: (world) =>
      world.send('POST', flagEnd('create_static_cohort_for_flag/')(world), keyed(world)),
    400: async (world) => {
      const gone = await world.burgee.createFlag();
      await world.burgee.api('PATCH', gone.path, { body: { deleted: true } });
      return world.send('POST', `${gone.path}create_static_cohort_for_flag/`, keyed(world));
    },
    404: (world) =>
      world.send('POST', `${FLAGS}999999/create_static_cohort_for_flag/`, keyed(world)),
  },
  getBlastRadius: {
    ...writing('POST', () => `${FLAGS}user_blast_radius/`, 200, { condition: null }),
    ...refusals(
      'POST',
      () => `${FLAGS}user_blast_radius/`,
      () => '/api/projects/999999/feature_flags/user_blast_radius/',
    ),
  },
};

function flagEnd(end: string) {
  return (world: CoverageWorld) => `${flag(world)}${end}`;
}
