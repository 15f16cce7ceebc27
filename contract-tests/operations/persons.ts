import { fillPath } from '../subjects.ts';
import { type CoverageTable, type CoverageWorld, keyed } from './provoke.ts';
import { answering } from './provoke-account.ts';

const PERSONS = '/api/projects/1/persons/';
const missing = () => `${PERSONS}00000000-0000-4000-8000-000000000000/`;
const newPath = ({ burgee }: CoverageWorld) =>
  fillPath(burgee, '/api/projects/{project_id}/persons/{uuid}/');

/** The operations on stored persons. */
export const personOperations: CoverageTable = {
  listPersons: {
    ...answering('GET', () => PERSONS, 200),
    400: (world) => world.send('GET', `${PERSONS}?distinct_id=`, keyed(world)),
    404: (world) => world.send('GET', '/api/projects/999999/persons/', keyed(world)),
  },
  getPerson: {
    ...answering('GET', missing, 404),
    200: async (world) => world.send('GET', await newPath(world), keyed(world)),
  },
  deletePerson: {
    ...answering('DELETE', missing, 404),
    204: async (world) => world.send('DELETE', await newPath(world), keyed(world)),
    400: (world) => world.send('DELETE', `${missing()}?delete_events=perhaps`, keyed(world)),
  },
};
