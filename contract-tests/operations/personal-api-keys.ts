import { pickText } from '../read.ts';
import { type CoverageTable, type CoverageWorld, keyed } from './provoke.ts';
import { accepting, answering } from './provoke-account.ts';

const KEYS = '/api/personal_api_keys/';
const keys = () => KEYS;
const missing = () => `${KEYS}00000000-0000-4000-8000-000000000000/`;

/** The path of a key that nobody uses. */
async function newKeyPath(world: CoverageWorld): Promise<string> {
  const body = { label: 'Covered', scopes: ['user:read'] };
  return `${KEYS}${pickText((await world.burgee.api('POST', KEYS, { body })).body, 'id')}/`;
}

/** The operations on the caller's keys. */
export const personalApiKeyOperations: CoverageTable = {
  listPersonalApiKeys: answering('GET', keys, 200),
  createPersonalApiKey: accepting('POST', keys, 201, {
    good: { label: 'Covered', scopes: ['user:read'] },
    bad: { label: 'Covered', scopes: ['nothing'] },
  }),
  getPersonalApiKey: {
    ...answering('GET', missing, 404),
    200: async (world) => world.send('GET', await newKeyPath(world), keyed(world)),
  },
  updatePersonalApiKey: {
    ...accepting('PATCH', missing, 404, { good: { label: 'New' }, bad: { label: '' } }),
    200: async (world) =>
      world.send('PATCH', await newKeyPath(world), keyed(world, { body: { label: 'New' } })),
  },
  revokePersonalApiKey: {
    ...answering('DELETE', missing, 404),
    204: async (world) => world.send('DELETE', await newKeyPath(world), keyed(world)),
  },
};
