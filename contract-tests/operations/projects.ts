import { pickNumber } from '../read.ts';
import { type CoverageTable, keyed } from './provoke.ts';
import { accepting, answering } from './provoke-account.ts';

const PROJECTS = '/api/projects/';
const MISSING = `${PROJECTS}999999/`;
const project = () => `${PROJECTS}1/`;

/** The operations on projects. */
export const projectOperations: CoverageTable = {
  listProjects: {
    ...answering('GET', () => PROJECTS, 200),
    400: (world) => world.send('GET', `${PROJECTS}?limit=many`, keyed(world)),
  },
  createProject: accepting('POST', () => PROJECTS, 201, {
    good: { name: 'Covered' },
    bad: { timezone: 'UTC' },
  }),
  getProject: {
    ...answering('GET', project, 200),
    404: (world) => world.send('GET', MISSING, keyed(world)),
  },
  updateProject: {
    ...accepting('PATCH', project, 200, { good: { name: 'Changed' }, bad: { name: '' } }),
    404: (world) => world.send('PATCH', MISSING, keyed(world, { body: { name: 'Lost' } })),
  },
  rotateProjectSecretKey: changingSecret('rotate_secret_token'),
  deleteProjectSecretKeyBackup: changingSecret('delete_secret_token_backup'),
};

/** On a project of its own, so that the keys of the world's stay what they are. */
function changingSecret(action: string): CoverageTable[string] {
  return {
    ...answering('PATCH', () => `${PROJECTS}1/${action}/`, 200),
    200: async (world) => {
      const { body } = await world.burgee.api('POST', PROJECTS, { body: { name: 'Rotated' } });
      const path = `${PROJECTS}${pickNumber(body, 'id')}/${action}/`;
      return world.send('PATCH', path, keyed(world));
    },
    404: (world) => world.send('PATCH', `${MISSING}${action}/`, keyed(world)),
  };
}
