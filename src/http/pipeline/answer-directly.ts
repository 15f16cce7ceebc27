import type { ErrorObject } from 'ajv';
import type { ProjectAccess } from '../../domain/common/access.ts';
import type { Handlers, OperationId } from '../../operations/operation.ts';
import type { Contract } from '../contract/contract.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import { toContractError } from '../contract/contract-errors.ts';
import { runHandler } from './run-handler.ts';
import {
  admitCaller,
  findCredential,
  type Gatekeeper,
  refuseCredential,
  SCHEME_OF_CALLER,
} from './security.ts';
import type { Eventually, WireReply, WireRequest } from './wire.ts';

/** Answers a request that has no body but a credential. Failures are thrown, or rejected with. */
export type AnswerDirectly = (
  operation: ContractOperation,
  request: WireRequest,
) => Eventually<WireReply>;

/** The operations that server-side SDKs poll: without a body, and too many for the long way. */
const DIRECT: ReadonlySet<OperationId> = new Set(['getFlagDefinitions', 'getLocalEvaluation']);

/** Whether the operation goes past openapi-backend's life cycle. */
export function isAnsweredDirectly(operation: ContractOperation): boolean {
  return DIRECT.has(operation.id);
}

/**
 * The pipeline of the operations that SDKs poll: the contract's security, its compiled validators
 * and its handler, in the order of openapi-backend. Both lanes end here. Nothing is waited for when
 * keys and projects are known already.
 */
export function createDirectAnswer(
  contract: Contract,
  handlers: Handlers,
  gatekeeper: Gatekeeper,
): AnswerDirectly {
  const run = (
    operation: ContractOperation,
    request: WireRequest,
    access: ProjectAccess,
  ): Eventually<WireReply> => {
    const checked = contract.check(operation, request);
    if (isFinding(checked)) throw toContractError(checked);
    const parts = { params: checked.params, query: checked.query, requestBody: undefined };
    return runHandler(handlers, operation, { request, caller: access.caller, access }, parts);
  };
  return (operation, request) => {
    const access = authorise(gatekeeper, operation, request);
    return access instanceof Promise
      ? access.then((found) => run(operation, request, found))
      : run(operation, request, access);
  };
}

/** The access that the request's credential gives; throws when it gives none. */
function authorise(
  gatekeeper: Gatekeeper,
  operation: ContractOperation,
  request: WireRequest,
): Eventually<ProjectAccess> {
  const credential = findCredential(request, undefined);
  if (credential === null) throw refuseCredential(operation, null);
  const enter = (caller: Awaited<ReturnType<Gatekeeper['authenticate']>>) => {
    if (caller === null || !operation.securitySchemes.has(SCHEME_OF_CALLER[caller.kind])) {
      throw refuseCredential(operation, credential);
    }
    return admitCaller(gatekeeper, operation, request, caller);
  };
  const caller = gatekeeper.authenticate(credential.secret);
  return caller instanceof Promise ? caller.then(enter) : enter(caller);
}

function isFinding(checked: object): checked is ErrorObject {
  return 'keyword' in checked;
}
