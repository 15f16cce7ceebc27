import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import type { OpenAPIV3 } from 'openapi-types';
import { parse } from 'yaml';
import { compileReplies } from './compile-replies.ts';
import {
  type CompiledRequests,
  type CompiledValidator,
  compileRequests,
} from './compile-requests.ts';
import { COMPILED_FILES, digestOf, type StoredOperations } from './read-compiled-contract.ts';

/**
 * Compiles the contract and writes what the service reads at its start into a folder: validators as
 * source that Ajv writes, the document and its operations as JSON, and last of all the digest that
 * says of which contract they are.
 */
export async function writeCompiledContract(folder: string, yaml: string): Promise<void> {
  const definition: OpenAPIV3.Document = parse(yaml);
  const requests = await compileRequests(definition);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, COMPILED_FILES.requests), { recursive: true });
  write(COMPILED_FILES.document, JSON.stringify(definition));
  write(COMPILED_FILES.operations, JSON.stringify(toStored(requests)));
  for (const [operationId, validators] of requests.validators) {
    write(join(COMPILED_FILES.requests, `${operationId}.cjs`), sourceOfRequest(validators));
  }
  write(COMPILED_FILES.replies, sourceOfReplies(definition));
  write(COMPILED_FILES.digest, digestOf(yaml));
}

function toStored({ operations, validators }: CompiledRequests): StoredOperations {
  const counts = [...validators].map(([operationId, { length }]) => [operationId, length]);
  return { operations, validators: Object.fromEntries(counts) };
}

/** A module of the validators of one operation, each in a scope of its own. */
function sourceOfRequest(validators: readonly CompiledValidator[]): string {
  const made = validators.map(({ ajv, validate }) => {
    const code = standalone.default(ajv, validate);
    return `(() => {\nconst module = { exports: {} };\n${code}\nreturn module.exports;\n})()`;
  });
  return `'use strict';\nmodule.exports = (require) => [\n${made.join(',\n')}\n];\n`;
}

/** A module of validators by the name of the reply; they share those of the components. */
function sourceOfReplies(definition: OpenAPIV3.Document): string {
  const { ajv, names, validatorOf } = compileReplies(definition);
  names.forEach(validatorOf);
  const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])));
  return `'use strict';\nmodule.exports = (require) => {\nconst exports = {};\n${code}\nreturn exports;\n};\n`;
}
