import { type CoverageTable, reading, refusals } from './provoke.ts';

const path = () => '/api/projects/1/events/';

/** Reading events. */
export const eventOperations: CoverageTable = {
  listEvents: {
    ...reading(path, 200, 'after=sometime'),
    ...refusals('GET', path, () => '/api/projects/999999/events/'),
  },
};
