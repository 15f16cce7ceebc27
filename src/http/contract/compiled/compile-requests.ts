import type { Ajv, ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { OpenAPIBackend } from 'openapi-backend';
import type { OpenAPIV3 } from 'openapi-types';
import type { ExtendedOperation } from './extended-operation.ts';

/** A validator with the instance of Ajv that compiled it, which can write its source. */
export interface CompiledValidator {
  readonly ajv: Ajv;
  readonly validate: ValidateFunction;
}

export interface CompiledRequests {
  /** Dereferenced, without the schemas and examples of replies. */
  readonly operations: readonly ExtendedOperation[];
  /** By operationId. */
  readonly validators: ReadonlyMap<string, readonly CompiledValidator[]>;
}

/**
 * Loads the contract with openapi-backend and compiles its validators of requests. The definition
 * stays as it is. Throws when the contract cannot be loaded.
 */
export async function compileRequests(definition: OpenAPIV3.Document): Promise<CompiledRequests> {
  const instances: Ajv[] = [];
  const api = new OpenAPIBackend<OpenAPIV3.Document>({
    definition: structuredClone(definition),
    strict: true,
    // The lint of the contract validates the document; doing it here costs seconds.
    quick: true,
    ignoreTrailingSlashes: false,
    coerceTypes: true,
    ajvOpts: { strict: false, verbose: true, code: { source: true } },
    customizeAjv: (ajv) => {
      addFormats.default(ajv);
      instances.push(ajv);
      return ajv;
    },
  });
  await api.init();
  const operations = api.router.getOperations();
  const validators = new Map<string, readonly CompiledValidator[]>();
  for (const operation of operations) {
    const first = instances.length;
    const built = api.validator.buildRequestValidatorsForOperation(operation) ?? [];
    validators.set(
      operation.operationId ?? '',
      built.map((validate, index) => ({ ajv: instanceAt(instances, first + index), validate })),
    );
  }
  return { operations: operations.map(withoutReplyBodies), validators };
}

/** openapi-backend makes an instance of Ajv for each validator, right before it compiles it. */
function instanceAt(instances: readonly Ajv[], index: number): Ajv {
  const ajv = instances[index];
  if (ajv === undefined) throw new Error('openapi-backend compiles validators in another way.');
  return ajv;
}

/** Replies have validators of their own; of an operation only their media types matter. */
function withoutReplyBodies(operation: ExtendedOperation): ExtendedOperation {
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    if (!('content' in response)) return [status, response];
    const types = Object.keys(response.content ?? {}).map((type) => [type, {}]);
    return [status, { ...response, content: Object.fromEntries(types) }];
  });
  return { ...operation, responses: Object.fromEntries(responses) };
}
