import type { ValidateFunction } from 'ajv';
import type { ExtendedOperation } from './compiled/extended-operation.ts';
import type { ContractDocument } from './contract-document.ts';

/** The contract as openapi-backend loads it: what there is to route to, and compiled validators. */
export interface Backend {
  /** Dereferenced operations, in the order of the contract. */
  readonly operations: readonly ExtendedOperation[];
  /**
   * Validators of one operation: parameters and body have validators of their own. Each is given
   * `{ path, query, header, cookie, requestBody }` and turns the texts of parameters into the types
   * of the contract, in place.
   */
  validatorsOf(operationId: string): readonly ValidateFunction[];
}

/**
 * Loads the contract into openapi-backend, or takes what the build has made with it of this very
 * document. Throws when the contract cannot be loaded.
 */
export async function loadBackend(document: ContractDocument): Promise<Backend> {
  const compiled = document.compiled ?? (await compile(document));
  return {
    operations: compiled.operations,
    validatorsOf: (operationId) => compiled.requestValidatorsOf(operationId),
  };
}

/** What compiles is large, and an installation that was built does without it. */
async function compile(document: ContractDocument) {
  const { compileContract } = await import('./compiled/compile-contract.ts');
  return compileContract(document.definition);
}
