import { keyed, type PathOf, type Provoke, refusing, taking } from './provoke.ts';

/** How an operation with a body answers. */
export function accepting(
  method: string,
  path: PathOf,
  ok: number,
  bodies: { readonly good: object; readonly bad: object },
): Record<number, Provoke> {
  return {
    ...taking(method, path, ok, bodies),
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
