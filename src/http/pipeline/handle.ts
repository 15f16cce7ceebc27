import type { Caller, ProjectAccess } from '../../domain/common/access.ts';
import { andThen, type Eventually } from '../../domain/common/eventually.ts';
import type {
  Handlers,
  OperationId,
  OperationRequest,
  ReplyHeaders,
  RequestOrigin,
} from '../../operations/operation.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { WireReply, WireRequest } from '../wire/wire.ts';
import { encode, NO_HEADERS, type UncheckedReply } from './encode.ts';

/** A request that passed the contract, and who sends it. */
export interface ValidCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: Caller | null;
  readonly access: ProjectAccess | null;
}

/** A request that is about to be handed to the handler of some operation. */
interface HandlerRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly caller: Caller | null;
  readonly access: ProjectAccess | null;
  readonly origin: RequestOrigin;
  readonly reply: (status: number, body: unknown, headers?: ReplyHeaders) => UncheckedReply;
}

/** Runs the handler of the operation on a request that passed the contract, and encodes its reply. */
export function handle(
  handlers: Handlers,
  operation: ContractOperation,
  request: WireRequest,
  { params, query, body, caller, access }: ValidCall,
): Eventually<WireReply> {
  const origin = toOrigin(request);
  const call: HandlerRequest = { params, query, body, caller, access, origin, reply: buildReply };
  return andThen(invoke(handlers, operation, operation.id, call), (reply) =>
    encode(operation, request, reply),
  );
}

function buildReply(
  status: number,
  body: unknown,
  headers: ReplyHeaders = NO_HEADERS,
): UncheckedReply {
  return { status, body, headers };
}

function invoke<Id extends OperationId>(
  handlers: Handlers,
  operation: ContractOperation,
  id: Id,
  request: HandlerRequest,
): Eventually<UncheckedReply> {
  if (!passedContract(request, operation, id)) {
    throw new Error(`No access was decided for ${id}.`);
  }
  return handlers[id](request);
}

/**
 * The one place where checked values get their types: the contract's validators have looked at
 * params, query and body before this runs, and the types are generated from the same contract.
 */
function passedContract<Id extends OperationId>(
  request: HandlerRequest,
  operation: ContractOperation,
  _id: Id,
): request is HandlerRequest & OperationRequest<Id> {
  return request.caller === null || request.access !== null || !operation.runsInProject;
}

function toOrigin(request: WireRequest): RequestOrigin {
  return {
    baseUrl: request.baseUrl,
    path: request.path,
    rawQuery: request.query,
    headers: request.headers,
    requestId: request.requestId,
    receivedAt: request.receivedAt,
  };
}
