import { type CoverageTable, keyed } from './provoke.ts';
import { accepting, answering } from './provoke-account.ts';

const TYPES = '/api/projects/1/groups_types/';
const MISSING = '/api/projects/999999/groups_types/';
const GROUPS = '/api/projects/1/groups/';
const MISSING_GROUPS = '/api/projects/999999/groups/';
const types = () => TYPES;

/** The operations on groups and their kinds. */
export const groupOperations: CoverageTable = {
  listGroups: {
    ...answering('GET', () => `${GROUPS}?group_type_index=0`, 200),
    400: (world) => world.send('GET', GROUPS, keyed(world)),
    404: (world) => world.send('GET', `${MISSING_GROUPS}?group_type_index=0`, keyed(world)),
  },
  deleteGroup: {
    ...answering('DELETE', () => `${GROUPS}?group_type_index=0&group_key=nobody`, 404),
    204: (world) =>
      world.send('DELETE', `${GROUPS}?group_type_index=0&group_key=acme`, keyed(world)),
    400: (world) => world.send('DELETE', `${GROUPS}?group_type_index=0`, keyed(world)),
  },
  listGroupTypes: {
    ...answering('GET', types, 200),
    404: (world) => world.send('GET', MISSING, keyed(world)),
  },
  nameGroupTypes: {
    ...accepting('PATCH', types, 200, {
      good: [{ group_type_index: 0, name_plural: 'companies' }],
      bad: [{ group_type_index: 4 }],
    }),
    404: (world) => world.send('PATCH', MISSING, keyed(world, { body: [] })),
  },
};
