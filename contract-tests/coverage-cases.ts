import type { HttpReply, RequestOptions, SendRequest } from './http.ts';
import type { TestProject } from './identities.ts';
import { PROJECT_API_KEY, type StartedBurgee, type TestFlag } from './start-burgee.ts';

/** What the cases work on. */
export interface CoverageWorld {
  readonly burgee: StartedBurgee;
  readonly flag: TestFlag;
  /** A key that may read dashboards and nothing else. */
  readonly uselessKey: string;
  /** A project whose quota is used up. */
  readonly limitedProject: TestProject;
  /** The path of a flag that is a remote configuration. */
  readonly configPath: string;
  /** Sends to the service that the case is about, and notes what was asked for. */
  readonly send: SendRequest;
}

/** A way to make one operation answer with one status. */
export type Provoke = (world: CoverageWorld) => Promise<HttpReply>;

/** How to provoke each status of each operation, by operationId. */
export type CoverageTable = Readonly<Record<string, Readonly<Record<number, Provoke>>>>;

const MANAGEMENT_MAX_BYTES = 4_194_304;
const EVENT_MAX_BYTES = 2_097_152;
const BATCH_MAX_BYTES = 20_971_520;

const FLAGS = '/api/projects/1/feature_flags/';
const MISSING_PROJECT = '/api/projects/999999/feature_flags/';

type PathOf = (world: CoverageWorld) => string;

const flags: PathOf = () => FLAGS;
const flag: PathOf = (world) => world.flag.path;

/** The refusals that every management operation shares. */
function refusals(method: string, path: PathOf, missingPath: PathOf | null) {
  return {
    401: (world: CoverageWorld) => world.send(method, path(world), { key: 'phx_nobody_has_it' }),
    403: (world: CoverageWorld) => world.send(method, path(world), { key: world.uselessKey }),
    ...(missingPath === null
      ? {}
      : {
          404: (world: CoverageWorld) =>
            world.send(method, missingPath(world), keyed(world, bodyFor(method))),
        }),
    // The key has not been seen before, so the service has to ask its database.
    503: (world: CoverageWorld) =>
      world.send(method, path(world), { key: 'phx_unknown_to_the_service', ...bodyFor(method) }),
  };
}

function bodyFor(method: string): RequestOptions {
  return method === 'GET' || method === 'DELETE' ? {} : { body: { key: 'unused' } };
}

function keyed(world: CoverageWorld, options: RequestOptions = {}): RequestOptions {
  return { key: world.burgee.personalApiKey, ...options };
}

function reading(path: PathOf, ok: number, invalid: string | null): Record<number, Provoke> {
  return {
    [ok]: (world) => world.send('GET', path(world), keyed(world)),
    ...(invalid === null
      ? {}
      : { 400: (world) => world.send('GET', `${path(world)}?${invalid}`, keyed(world)) }),
  };
}

function writing(method: string, path: PathOf, ok: number, body: object): Record<number, Provoke> {
  return {
    [ok]: (world) => world.send(method, path(world), keyed(world, { body })),
    400: (world) => world.send(method, path(world), keyed(world, { body: { key: 'not a key' } })),
    413: (world) =>
      world.send(
        method,
        path(world),
        keyed(world, { body: { key: 'large', name: 'x'.repeat(MANAGEMENT_MAX_BYTES) } }),
      ),
    415: (world) =>
      world.send(
        method,
        path(world),
        keyed(world, { raw: '<flag/>', headers: { 'content-type': 'text/html' } }),
      ),
  };
}

const definitions = (path: PathOf): Record<number, Provoke> => ({
  ...reading(path, 200, 'send_cohorts=perhaps'),
  402: (world) =>
    world.send(
      'GET',
      path(world).replace('/projects/1/', `/projects/${world.limitedProject.id}/`),
      { key: world.limitedProject.projectSecretKey },
    ),
  304: async (world) => {
    const { headers } = await world.burgee.api('GET', path(world));
    return world.send(
      'GET',
      path(world),
      keyed(world, { headers: { 'if-none-match': headers.etag ?? '' } }),
    );
  },
});

function capturing(path: string, maxBytes: number): Record<number, Provoke> {
  const event = { event: 'tested', distinct_id: 'a-person' };
  const body = { api_key: PROJECT_API_KEY, batch: [event] };
  return {
    200: (world) => world.send('POST', path, { body }),
    204: (world) => world.send('POST', `${path}?beacon=1`, { body }),
    400: (world) => world.send('POST', path, { body: { ...body, batch: [] } }),
    401: (world) => world.send('POST', path, { body: { batch: [event] } }),
    413: (world) => world.send('POST', path, { raw: 'x'.repeat(maxBytes + 1) }),
    503: (world) => world.send('POST', path, { body }),
  };
}

function browserConfig(file: string): Record<number, Provoke> {
  return {
    200: (world) => world.send('GET', `/array/${PROJECT_API_KEY}/${file}`),
    404: (world) => world.send('GET', `/array/phc_nobody/${file}`),
    503: (world) => world.send('GET', `/array/phc_unknown/${file}`),
  };
}

const reasons: PathOf = () => `${FLAGS}evaluation_reasons/?distinct_id=p`;

/** One entry for each documented status but 500, which is documented and not provoked. */
export const coverageTable: CoverageTable = {
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
  },
  updateFeatureFlag: {
    ...refusals('PATCH', flag, () => `${FLAGS}999999/`),
    ...writing('PATCH', flag, 200, { name: 'changed' }),
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
  getRemoteConfig: {
    ...reading((world) => world.configPath, 200, null),
    ...refusals(
      'GET',
      (world) => world.configPath,
      () => `${FLAGS}no-such-flag/remote_config/`,
    ),
  },
  describeEvaluation: {
    200: (world) => world.send('GET', '/flags?v=2'),
    400: (world) => world.send('GET', `/flags?v=${'2'.repeat(21)}`),
  },
  getBrowserConfig: browserConfig('config'),
  getBrowserConfigScript: browserConfig('config.js'),
  captureEvent: capturing('/i/v0/e/', EVENT_MAX_BYTES),
  captureBatch: capturing('/batch/', BATCH_MAX_BYTES),
};
