import type { ValidateFunction } from 'ajv';
import type { ExtendedOperation } from './extended-operation.ts';

/** A contract whose schemas have become functions. */
export interface CompiledContract {
  /** Dereferenced operations, in the order of the contract; replies without what is in them. */
  readonly operations: readonly ExtendedOperation[];
  /** Validators of the parts of one operation's requests; none for an operation that is unknown. */
  requestValidatorsOf(operationId: string): readonly ValidateFunction[];
  /** The validator of one operation's JSON reply with one status; undefined when it has no schema. */
  replyValidatorOf(operationId: string, status: number): ValidateFunction | undefined;
}

/** The name of one operation's reply with one status. */
export function replyName(operationId: string, status: number | string): string {
  return `${operationId} ${status}`;
}
