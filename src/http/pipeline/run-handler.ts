import type { ParsedRequest } from 'openapi-backend';
import type { Caller, ProjectAccess } from '../../domain/common/access.ts';
import {
  type Handlers,
  type OperationId,
  type OperationRequest,
  RawJson,
  type ReplyHeaders,
  type RequestOrigin,
} from '../../operations/operation.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { Eventually, WireReply, WireRequest } from './wire.ts';

/** The parts of a request that the contract's validators looked at. */
type CheckedParts = Pick<ParsedRequest, 'params' | 'query' | 'requestBody'>;

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

interface UncheckedReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: ReplyHeaders;
}

/** Runs the handler of the operation on a request that passed the contract. */
export function runHandler(
  handlers: Handlers,
  operation: ContractOperation,
  call: {
    readonly request: WireRequest;
    readonly caller: Caller | null;
    readonly access: ProjectAccess | null;
  },
  checked: CheckedParts,
): Eventually<WireReply> {
  const request: HandlerRequest = {
    params: checked.params,
    query: checked.query,
    body: checked.requestBody,
    caller: call.caller,
    access: call.access,
    origin: toOrigin(call.request),
    reply: buildReply,
  };
  const reply = invoke(handlers, operation, operation.id, request);
  return reply instanceof Promise
    ? reply.then((later) => toWireReply(operation, call.request, later))
    : toWireReply(operation, call.request, reply);
}

const NO_HEADERS: ReplyHeaders = Object.freeze({});

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

function toWireReply(
  operation: ContractOperation,
  request: WireRequest,
  reply: UncheckedReply,
): WireReply {
  const { status, body } = reply;
  const mediaType = operation.mediaTypes.get(status);
  if (mediaType === undefined) {
    throw new Error(`${operation.id} answered the undeclared status ${status}.`);
  }
  const isEmpty = operation.mayBeEmpty && body instanceof RawJson && body.text === '';
  if (mediaType === null || isEmpty) return { status, headers: reply.headers, body: null };
  const contentType = mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType;
  const headers =
    reply.headers === NO_HEADERS
      ? headersOf(contentType)
      : { ...reply.headers, 'content-type': contentType };
  if (body instanceof RawJson && body.isCompressible && body.text.length >= COMPRESS_FROM_LENGTH) {
    const varied = { ...headers, vary: VARY };
    if (!acceptsGzip(request)) return { status, headers: varied, body: body.bytes() };
    return { status, headers: { ...varied, 'content-encoding': 'gzip' }, body: body.gzipped() };
  }
  if (body instanceof RawJson && body.isAscii) {
    return { status, headers, body: body.text, isAscii: true };
  }
  return { status, headers, body: toText(body, mediaType) };
}

const headersByType = new Map<string, ReplyHeaders>();

/** The headers of a reply that says nothing but its media type; the same object for equal types. */
function headersOf(contentType: string): ReplyHeaders {
  let headers = headersByType.get(contentType);
  if (headers === undefined) {
    headers = Object.freeze({ 'content-type': contentType });
    headersByType.set(contentType, headers);
  }
  return headers;
}

/** What such a reply depends on; the way Hapi writes it, which adds the origin to every reply. */
const VARY = 'accept-encoding,origin';

/** Below this, compressing saves nothing that a packet would notice. */
const COMPRESS_FROM_LENGTH = 1_024;

function acceptsGzip(request: WireRequest): boolean {
  const accepted = request.headers['accept-encoding'];
  return (
    typeof accepted === 'string' && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted)
  );
}

function toText(body: unknown, mediaType: string): string {
  if (body instanceof RawJson) return body.text;
  if (typeof body === 'string' && !mediaType.endsWith('json')) return body;
  return JSON.stringify(body);
}
