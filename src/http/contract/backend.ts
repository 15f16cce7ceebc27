import type { ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { OpenAPIBackend } from 'openapi-backend';
import type { OpenAPIV3 } from 'openapi-types';
import type { ContractDocument, ExtendedOperation } from './contract-document.ts';
import { ContractRouter } from './contract-router.ts';

/** The contract as openapi-backend loads it: what there is to route to, and compiled validators. */
export interface Backend {
  /** Dereferenced operations, in the order of the contract. */
  readonly operations: readonly ExtendedOperation[];
  /** Validators of one operation: parameters and body have validators of their own. */
  validatorsOf(operationId: string): readonly ValidateFunction[];
}

/** Loads the contract into openapi-backend. Throws when it cannot be loaded. */
export async function loadBackend(document: ContractDocument): Promise<Backend> {
  const api = new OpenAPIBackend<OpenAPIV3.Document>({
    definition: structuredClone(document.definition),
    strict: true,
    // The lint of the contract validates the document; doing it at each start costs seconds.
    quick: true,
    ignoreTrailingSlashes: false,
    coerceTypes: true,
    ajvOpts: { strict: false, verbose: true },
    customizeAjv: (ajv) => {
      addFormats.default(ajv);
      return ajv;
    },
  });
  await api.init();
  const router = new ContractRouter({ definition: api.definition, ignoreTrailingSlashes: false });
  api.router = router;
  api.validator.router = router;
  api.validator.preCompileRequestValidators();
  return {
    operations: router.getOperations(),
    validatorsOf: (id) => api.validator.getRequestValidatorsForOperation(id) ?? [],
  };
}
