import { readPackageFile } from '../src/domain/common/package-root.ts';
import type { Handlers } from '../src/operations/operation.ts';

/** Handlers for a test of the shell: these, and for every other operation one that fails. */
export function handlersWith(own: Partial<Handlers>): Handlers {
  const names = operationNames();
  const stubs = Object.fromEntries(names.map((name) => [name, () => fail(name)]));
  const handlers: Partial<Handlers> = { ...stubs, ...own };
  if (!isComplete(handlers, names)) throw new Error('An operation has no handler.');
  return handlers;
}

function operationNames(): string[] {
  return [...readPackageFile('openapi.yaml').matchAll(/operationId: (\w+)/g)].map(
    (match) => match[1] ?? '',
  );
}

function fail(name: string): never {
  throw new Error(`The operation ${name} was not expected to be called.`);
}

function isComplete(handlers: Partial<Handlers>, names: readonly string[]): handlers is Handlers {
  return names.every((name) => Object.hasOwn(handlers, name));
}
