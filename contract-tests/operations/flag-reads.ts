import {
  type CoverageTable,
  FLAGS,
  keyed,
  MISSING_PROJECT,
  type PathOf,
  reading,
  refusals,
  writing,
} from './provoke.ts';

const dependents: PathOf = (world) => `${world.flag.path}has_active_dependents/`;
const bulkKeys: PathOf = () => `${FLAGS}bulk_keys/`;
const testEvaluation: PathOf = (world) => `${world.flag.path}test_evaluation/`;

/** The operations that look at flags without changing them. */
export const flagReadOperations: CoverageTable = {
  getFeatureFlagStatus: {
    ...reading((world) => `${world.flag.path}status/`, 200, null),
    ...refusals(
      'GET',
      (world) => `${world.flag.path}status/`,
      () => `${FLAGS}999999/status/`,
    ),
  },
  listDependentFeatureFlags: {
    ...reading((world) => `${world.flag.path}dependent_flags/`, 200, null),
    ...refusals(
      'GET',
      (world) => `${world.flag.path}dependent_flags/`,
      () => `${FLAGS}999999/dependent_flags/`,
    ),
  },
  checkActiveDependents: {
    ...refusals('POST', dependents, () => `${FLAGS}999999/has_active_dependents/`),
    ...writing('POST', dependents, 200, {}),
    400: (world) => world.send('POST', dependents(world), keyed(world, { body: [] })),
  },
  listMatchingFeatureFlagIds: {
    ...reading(() => `${FLAGS}matching_ids/`, 200, 'type=other'),
    ...refusals(
      'GET',
      () => `${FLAGS}matching_ids/`,
      () => `${MISSING_PROJECT}matching_ids/`,
    ),
  },
  listFeatureFlagKeys: {
    ...refusals('POST', bulkKeys, () => `${MISSING_PROJECT}bulk_keys/`),
    ...writing('POST', bulkKeys, 200, { ids: [1] }),
    400: (world) => world.send('POST', bulkKeys(world), keyed(world, { body: { ids: ['x'] } })),
  },
  testFeatureFlagEvaluation: {
    ...refusals('POST', testEvaluation, () => `${FLAGS}999999/test_evaluation/`),
    ...writing('POST', testEvaluation, 200, { distinct_id: 'somebody' }),
    400: (world) => world.send('POST', testEvaluation(world), keyed(world, { body: {} })),
  },
};
