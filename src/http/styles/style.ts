import type { ErrorObject } from 'ajv';
import type { Refusal } from '../../domain/common/refusal.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { DecodeFault } from '../decode/decode-fault.ts';
import type { WireRequest } from '../wire/wire.ts';

/** How the operations of one family word what is wrong with a request. */
export interface Style {
  /** What is wrong before the body is looked at; null when nothing is. */
  readonly refuseHead: ((request: WireRequest, head: HeadCheck) => Refusal | null) | null;
  /** A body that cannot be decoded; the request is there once it was read. */
  wordFault(fault: DecodeFault, request?: WireRequest): Refusal;
  /** A request that does not fit the contract. */
  wordFinding(finding: ErrorObject, operation: ContractOperation, body: unknown): Refusal;
  /** Headers of a request that its replies repeat. */
  readonly echoedHeaders: readonly string[];
}

/** Validates the parameters of a request; gives the first finding, or null. */
export type HeadCheck = () => ErrorObject | null;
