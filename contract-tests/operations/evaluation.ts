import { PROJECT_API_KEY } from '../start-burgee.ts';
import {
  browserConfig,
  type CoverageTable,
  definitions,
  EVENT_MAX_BYTES,
  FLAGS,
  keyed,
  MISSING_PROJECT,
  type PathOf,
  reading,
  refusals,
} from './provoke.ts';

const reasons: PathOf = () => `${FLAGS}evaluation_reasons/?distinct_id=p`;

/** Evaluation, and what SDKs poll in order to evaluate. */
export const evaluationOperations: CoverageTable = {
  getLocalEvaluation: {
    ...definitions(() => `${FLAGS}local_evaluation/`),
    ...refusals(
      'GET',
      () => `${FLAGS}local_evaluation/`,
      () => `${MISSING_PROJECT}local_evaluation/`,
    ),
  },
  getFlagDefinitions: {
    ...definitions(() => '/flags/definitions'),
    ...refusals('GET', () => '/flags/definitions', null),
  },
  evaluateFlags: {
    200: (world) =>
      world.send('POST', '/flags?v=2', { body: { token: PROJECT_API_KEY, distinct_id: 'p' } }),
    400: (world) => world.send('POST', '/flags?v=2', { body: { token: PROJECT_API_KEY } }),
    401: (world) => world.send('POST', '/flags?v=2', { body: { distinct_id: 'p' } }),
    413: (world) => world.send('POST', '/flags?v=2', { raw: 'x'.repeat(EVENT_MAX_BYTES + 1) }),
    // The project API key has not been seen before, so the service has to ask its database.
    503: (world) =>
      world.send('POST', '/flags?v=2', { body: { token: 'phc_unknown', distinct_id: 'p' } }),
  },
  getEvaluationReasons: {
    ...reading(reasons, 200, null),
    400: (world) => world.send('GET', `${FLAGS}evaluation_reasons/`, keyed(world)),
    ...refusals('GET', reasons, () => `${MISSING_PROJECT}evaluation_reasons/?distinct_id=p`),
  },
  listMyFlags: {
    ...reading(() => `${FLAGS}my_flags/`, 200, 'groups=company'),
    ...refusals(
      'GET',
      () => `${FLAGS}my_flags/`,
      () => `${MISSING_PROJECT}my_flags/`,
    ),
  },
  describeEvaluation: {
    200: (world) => world.send('GET', '/flags?v=2'),
    400: (world) => world.send('GET', `/flags?v=${'2'.repeat(21)}`),
  },
  getBrowserConfig: browserConfig('config'),
  getBrowserConfigScript: browserConfig('config.js'),
};
