import {
  type CoverageTable,
  FLAGS,
  flag,
  flags,
  keyed,
  MISSING_PROJECT,
  type Provoke,
  reading,
  refusals,
  writing,
} from './provoke.ts';

/** A change from a version that is gone, of a field that has changed since. */
function conflicting(method: string, body: object, field: string): Provoke {
  return (world) =>
    world.send(
      method,
      world.flag.path,
      keyed(world, {
        body: { ...body, version: 2_147_483_647, original_flag: { [field]: 'what nobody stored' } },
      }),
    );
}

/** The operations on definitions of flags. */
export const featureFlagOperations: CoverageTable = {
  listFeatureFlags: {
    ...reading(flags, 200, 'limit=many'),
    ...refusals('GET', flags, () => MISSING_PROJECT),
  },
  createFeatureFlag: {
    ...refusals('POST', flags, () => MISSING_PROJECT),
    ...writing('POST', flags, 201, { key: 'covered' }),
  },
  getFeatureFlag: {
    ...reading(flag, 200, null),
    ...refusals('GET', flag, () => `${FLAGS}999999/`),
  },
  replaceFeatureFlag: {
    ...refusals('PUT', flag, () => `${FLAGS}999999/`),
    ...writing('PUT', flag, 200, { key: 'replaced' }),
    409: conflicting('PUT', { key: 'a-conflict' }, 'key'),
  },
  updateFeatureFlag: {
    ...refusals('PATCH', flag, () => `${FLAGS}999999/`),
    ...writing('PATCH', flag, 200, { name: 'changed' }),
    409: conflicting('PATCH', { name: 'a conflict' }, 'name'),
  },
  deleteFeatureFlag: {
    ...refusals('DELETE', flag, () => `${MISSING_PROJECT}1/`),
    405: (world) => world.send('DELETE', world.flag.path, keyed(world)),
  },
  listFeatureFlagActivity: {
    ...reading((world) => `${world.flag.path}activity/`, 200, 'page=0'),
    ...refusals(
      'GET',
      (world) => `${world.flag.path}activity/`,
      () => `${FLAGS}999999/activity/`,
    ),
  },
  listFeatureFlagsActivity: {
    ...reading(() => `${FLAGS}activity/`, 200, 'limit=0'),
    ...refusals(
      'GET',
      () => `${FLAGS}activity/`,
      () => `${MISSING_PROJECT}activity/`,
    ),
  },
  getRemoteConfig: {
    ...reading((world) => world.configPath, 200, null),
    ...refusals(
      'GET',
      (world) => world.configPath,
      () => `${FLAGS}no-such-flag/remote_config/`,
    ),
  },
};
