import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import type { OpenAPIV3 } from 'openapi-types';
import { parse } from 'yaml';
import { compileReplies } from './compile-replies.ts';
import { type CompiledRequests, compileRequests } from './compile-requests.ts';
import { COMPILED_FILES, digestOf } from './read-compiled-contract.ts';

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
  mkdirSync(folder, { recursive: true });
  write(COMPILED_FILES.document, JSON.stringify(definition));
  write(COMPILED_FILES.operations, JSON.stringify(requests.operations));
  write(COMPILED_FILES.requests, sourceOfRequests(requests));
  write(COMPILED_FILES.replies, sourceOfReplies(definition));
  write(COMPILED_FILES.digest, digestOf(yaml));
}

/**
 * A module of functions by operation, so that only the validators that are asked for are made. What
 * Ajv's code needs of its packages is found by who reads it, wherever the file lies.
 */
function sourceOfRequests({ validators }: CompiledRequests): string {
  const entries = [...validators].map(([operationId, compiled]) => {
    const makers = compiled.map(
      ({ ajv, validate }) =>
        `(() => {\nconst module = { exports: {} };\n${standalone.default(ajv, validate)}\nreturn module.exports;\n})()`,
    );
    return `${JSON.stringify(operationId)}: () => [${makers.join(',\n')}]`;
  });
  return `'use strict';\nmodule.exports = (require) => ({\n${entries.join(',\n')}\n});\n`;
}

/** A module of validators by the name of the reply; they share those of the components. */
function sourceOfReplies(definition: OpenAPIV3.Document): string {
  const { ajv, names, validatorOf } = compileReplies(definition);
  names.forEach(validatorOf);
  const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])));
  return `'use strict';\nmodule.exports = (require) => {\nconst exports = {};\n${code}\nreturn exports;\n};\n`;
}
