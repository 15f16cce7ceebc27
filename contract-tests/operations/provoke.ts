import type { HttpReply, RequestOptions, SendRequest } from '../http.ts';
import type { TestProject } from '../identities.ts';
import { PROJECT_API_KEY, type StartedBurgee, type TestFlag } from '../start-burgee.ts';

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
export const EVENT_MAX_BYTES = 2_097_152;
export const BATCH_MAX_BYTES = 20_971_520;

export const FLAGS = '/api/projects/1/feature_flags/';
export const MISSING_PROJECT = '/api/projects/999999/feature_flags/';

export type PathOf = (world: CoverageWorld) => string;

export const flags: PathOf = () => FLAGS;
export const flag: PathOf = (world) => world.flag.path;

/** The refusals of an operation: those that every operation with a key has. */
export function refusing(method: string, path: PathOf, options: RequestOptions = {}) {
  const sendWith = (world: CoverageWorld, key: string) =>
    world.send(method, path(world), { ...options, key });
  return {
    401: (world: CoverageWorld) => sendWith(world, 'phx_nobody_has_it'),
    403: (world: CoverageWorld) => sendWith(world, world.uselessKey),
    // The key has not been seen before, so the service has to ask its database.
    503: (world: CoverageWorld) => sendWith(world, 'phx_unknown_to_the_service'),
  };
}

/** The refusals that every management operation of a project shares. */
export function refusals(method: string, path: PathOf, missingPath: PathOf | null) {
  return {
    ...refusing(method, path, bodyFor(method)),
    ...(missingPath === null
      ? {}
      : {
          404: (world: CoverageWorld) =>
            world.send(method, missingPath(world), keyed(world, bodyFor(method))),
        }),
  };
}

function bodyFor(method: string): RequestOptions {
  return method === 'GET' || method === 'DELETE' ? {} : { body: { key: 'unused' } };
}

export function keyed(world: CoverageWorld, options: RequestOptions = {}): RequestOptions {
  return { key: world.burgee.personalApiKey, ...options };
}

export function reading(path: PathOf, ok: number, invalid: string | null): Record<number, Provoke> {
  return {
    [ok]: (world) => world.send('GET', path(world), keyed(world)),
    ...(invalid === null
      ? {}
      : { 400: (world) => world.send('GET', `${path(world)}?${invalid}`, keyed(world)) }),
  };
}

/** How an operation with a body succeeds, and how it is refused for its body. */
export function taking(
  method: string,
  path: PathOf,
  ok: number,
  bodies: { readonly good: object; readonly bad: object },
): Record<number, Provoke> {
  const send = (world: CoverageWorld, options: RequestOptions) =>
    world.send(method, path(world), keyed(world, options));
  return {
    [ok]: (world) => send(world, { body: bodies.good }),
    400: (world) => send(world, { body: bodies.bad }),
    413: (world) => send(world, { body: { large: 'x'.repeat(MANAGEMENT_MAX_BYTES) } }),
    415: (world) => send(world, { raw: '<p>', headers: { 'content-type': 'text/html' } }),
  };
}

/** How an operation that takes a flag answers. */
export function writing(
  method: string,
  path: PathOf,
  ok: number,
  body: object,
): Record<number, Provoke> {
  return taking(method, path, ok, { good: body, bad: { key: 'not a key' } });
}

export const definitions = (path: PathOf): Record<number, Provoke> => ({
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

export function capturing(path: string, maxBytes: number): Record<number, Provoke> {
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

export function browserConfig(file: string): Record<number, Provoke> {
  return {
    200: (world) => world.send('GET', `/array/${PROJECT_API_KEY}/${file}`),
    404: (world) => world.send('GET', `/array/phc_nobody/${file}`),
    503: (world) => world.send('GET', `/array/phc_unknown/${file}`),
  };
}
