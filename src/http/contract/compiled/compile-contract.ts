import type { OpenAPIV3 } from 'openapi-types';
import { compileReplies } from './compile-replies.ts';
import { compileRequests } from './compile-requests.ts';
import { type CompiledContract, replyName } from './compiled-contract.ts';

/** Compiles a contract where it is used. Throws when it cannot be loaded. */
export async function compileContract(definition: OpenAPIV3.Document): Promise<CompiledContract> {
  const { operations, validators } = await compileRequests(definition);
  const replies = compileReplies(definition);
  const ready = new Map(
    [...validators].map(([id, compiled]) => [id, compiled.map(({ validate }) => validate)]),
  );
  return {
    operations,
    requestValidatorsOf: (operationId) => ready.get(operationId) ?? [],
    replyValidatorOf: (operationId, status) => replies.validatorOf(replyName(operationId, status)),
  };
}
