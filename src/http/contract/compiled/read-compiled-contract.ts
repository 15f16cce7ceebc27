import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { type CompiledContract, replyName } from './compiled-contract.ts';

/** The files of a compiled contract, in their folder. */
export const COMPILED_FILES = {
  digest: 'digest.txt',
  document: 'openapi.json',
  operations: 'operations.json',
  requests: 'requests.cjs',
  replies: 'replies.cjs',
} as const;

/** A compiled contract that was read from files, with the document that it was made of. */
export interface StoredContract extends CompiledContract {
  /** The document as JSON. */
  readJson(): string;
}

/** What tells one text of a contract from another. */
export function digestOf(yaml: string): string {
  return createHash('sha256').update(yaml).digest('hex');
}

/** Reads what the build made of this contract; null when it made nothing, or of another one. */
export function readCompiledContract(folder: string, yaml: string): StoredContract | null {
  const digestFile = join(folder, COMPILED_FILES.digest);
  if (!existsSync(digestFile) || readFileSync(digestFile, 'utf8') !== digestOf(yaml)) return null;
  const readText = (name: string) => readFileSync(join(folder, name), 'utf8');
  const require = createRequire(import.meta.url);
  const load = (name: string): object => {
    const make: unknown = require(join(folder, name));
    const made: unknown = typeof make === 'function' ? make(require) : null;
    if (typeof made !== 'object' || made === null) throw new Error(`${name} is not of this build.`);
    return made;
  };
  const makers = load(COMPILED_FILES.requests);
  const made = new Map<string, readonly ValidateFunction[]>();
  let replies: object | undefined;
  return {
    operations: JSON.parse(readText(COMPILED_FILES.operations)),
    readJson: () => readText(COMPILED_FILES.document),
    requestValidatorsOf(operationId) {
      let validators = made.get(operationId);
      if (validators === undefined) {
        const make = ownValue(makers, operationId);
        const list: unknown = typeof make === 'function' ? make() : [];
        validators = Array.isArray(list) ? list.filter(isValidator) : [];
        made.set(operationId, validators);
      }
      return validators;
    },
    replyValidatorOf(operationId, status) {
      // Most replies are never checked in production, so this waits for the first that is.
      replies ??= load(COMPILED_FILES.replies);
      const validate = ownValue(replies, replyName(operationId, status));
      return isValidator(validate) ? validate : undefined;
    },
  };
}

function ownValue(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined;
}

function isValidator(value: unknown): value is ValidateFunction {
  return typeof value === 'function';
}
