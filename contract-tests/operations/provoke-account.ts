import type { RequestOptions } from '../http.ts';
import { type CoverageWorld, keyed, type PathOf, type Provoke } from './provoke.ts';

const MANAGEMENT_MAX_BYTES = 4_194_304;

/** The refusals of an operation: those that every operation with a key has. */
export function refusing(method: string, path: PathOf, options: RequestOptions = {}) {
  return {
    401: (world: CoverageWorld) =>
      world.send(method, path(world), { ...options, key: 'phx_nobody_has_it' }),
    403: (world: CoverageWorld) =>
      world.send(method, path(world), { ...options, key: world.uselessKey }),
    // The key has not been seen before, so the service has to ask its database.
    503: (world: CoverageWorld) =>
      world.send(method, path(world), { ...options, key: 'phx_unknown_to_the_service' }),
  };
}

/** How an operation with a body succeeds, and how it is refused for its body. */
export function accepting(
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
    ...refusing(method, path, { body: bodies.good }),
  };
}

/** How an operation without a body answers. */
export function answering(method: string, path: PathOf, ok: number): Record<number, Provoke> {
  return {
    [ok]: (world) => world.send(method, path(world), keyed(world)),
    ...refusing(method, path),
  };
}
