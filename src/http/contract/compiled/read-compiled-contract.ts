import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { type CompiledContract, replyName } from './compiled-contract.ts';
import type { ExtendedOperation } from './extended-operation.ts';

/** What a compiled contract consists of, in its folder. */
export const COMPILED_FILES = {
  digest: 'digest.txt',
  document: 'openapi.json',
  operations: 'operations.json',
  /** A folder with a module for each operation. */
  requests: 'requests',
  replies: 'replies.cjs',
} as const;

/** The stored operations, each with the number of its validators. */
export interface StoredOperations {
  readonly operations: readonly ExtendedOperation[];
  readonly validators: Readonly<Record<string, number>>;
}

/** A compiled contract that was read from files. */
export interface StoredContract extends CompiledContract {
  /** The document that it was made of, as JSON. */
  readJson(): string;
}

/** What tells one text of a contract from another. */
export function digestOf(yaml: string): string {
  return createHash('sha256').update(yaml).digest('hex');
}

/**
 * Reads what the build made of this contract; null when it made nothing, or of another one. The
 * validators of an operation are loaded with its first request, those of replies with the first
 * reply that is checked: there are many, and few of them are in use.
 */
export function readCompiledContract(folder: string, yaml: string): StoredContract | null {
  const digestFile = join(folder, COMPILED_FILES.digest);
  if (!existsSync(digestFile) || readFileSync(digestFile, 'utf8') !== digestOf(yaml)) return null;
  const readText = (name: string) => readFileSync(join(folder, name), 'utf8');
  const stored: StoredOperations = JSON.parse(readText(COMPILED_FILES.operations));
  const deferred = new Map(
    Object.entries(stored.validators).map(([operationId, count]) => [
      operationId,
      deferValidators(count, () =>
        loadModule(join(folder, COMPILED_FILES.requests, `${operationId}.cjs`)),
      ),
    ]),
  );
  let replies: object | undefined;
  return {
    operations: stored.operations,
    readJson: () => readText(COMPILED_FILES.document),
    requestValidatorsOf: (operationId) => deferred.get(operationId) ?? [],
    replyValidatorOf(operationId, status) {
      replies ??= loadModule(join(folder, COMPILED_FILES.replies));
      const validate: unknown = Reflect.get(replies, replyName(operationId, status));
      return isValidator(validate) ? validate : undefined;
    },
  };
}

/** The validators that a written module makes. What Ajv's code requires is found from here. */
function loadModule(path: string): object {
  const require = createRequire(import.meta.url);
  const make: unknown = require(path);
  const made: unknown = typeof make === 'function' ? make(require) : null;
  if (typeof made !== 'object' || made === null) throw new Error(`${path} is not of this build.`);
  return made;
}

function deferValidators(count: number, load: () => object): readonly ValidateFunction[] {
  let loaded: object | undefined;
  return Array.from({ length: count }, (_, index) =>
    deferValidator(() => {
      loaded ??= load();
      const validate: unknown = Reflect.get(loaded, index);
      if (!isValidator(validate)) throw new Error('The build wrote fewer validators than it says.');
      return validate;
    }),
  );
}

/** Stands for a validator that is loaded when it is first called. */
function deferValidator(load: () => ValidateFunction): ValidateFunction {
  let loaded: ValidateFunction | undefined;
  const found: Pick<ValidateFunction, 'errors'> = { errors: null };
  const validate = Object.assign((parts: unknown): boolean => {
    loaded ??= load();
    const fits = loaded(parts);
    validate.errors = loaded.errors ?? null;
    return fits;
  }, found);
  if (!isValidator(validate)) throw new Error('Whatever can be called is a validator.');
  return validate;
}

/** A validator is known by nothing but being a function. */
function isValidator(value: unknown): value is ValidateFunction {
  return typeof value === 'function';
}
