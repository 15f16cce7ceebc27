import type { ErrorObject } from 'ajv';
import type { Handlers } from '../../operations/operation.ts';
import type { Contract } from '../contract/contract.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import {
  BodyTooLargeError,
  DecodeError,
  decodeUtf8,
  mediaTypeOf,
  parseJson,
} from '../decode/body-parts.ts';
import { isAcceptedEncoding, removeEncoding } from '../decode/content-encoding.ts';
import { analyticsErrorReply, NEGOTIATION } from './error-reply.ts';
import { runHandler } from './run-handler.ts';
import type { WireReply, WireRequest } from './wire.ts';

const REQUEST_ID = 'posthog-request-id';

/**
 * Answers a request of the second generation of capture, which is strict about headers and tells
 * every refusal as JSON. Failures other than bad requests are thrown.
 */
export async function answerAnalytics(
  contract: Contract,
  handlers: Handlers,
  operation: ContractOperation,
  request: WireRequest,
  inflatedMaxBytes: number,
): Promise<WireReply> {
  const requestId = request.headers[REQUEST_ID];
  const echoed = typeof requestId === 'string' ? { [REQUEST_ID]: requestId } : {};
  const refusal = refuseHead(contract, operation, request);
  if (refusal !== null) return withHeaders(refusal, echoed);
  const decoded = decode(request, inflatedMaxBytes);
  if ('status' in decoded) return withHeaders(decoded, echoed);
  // The validator turns texts into the types of the contract, in place.
  const headers = { ...request.headers };
  const checked = contract.check(operation, { query: request.query, body: decoded.body, headers });
  if ('keyword' in checked) return withHeaders(refuseShape(checked), echoed);
  const parts = { params: {}, query: checked.query, requestBody: decoded.body };
  const call = { request, caller: null, access: null };
  const reply = await runHandler(handlers, operation, call, parts);
  return withHeaders(reply, reply.status < 400 ? echoed : { ...NEGOTIATION, ...echoed });
}

/**
 * What is wrong before the body is looked at: whoever sends no key is told so first and costs
 * nothing more, then headers that are missing, what cannot be read, and values that do not fit.
 */
function refuseHead(
  contract: Contract,
  operation: ContractOperation,
  request: WireRequest,
): WireReply | null {
  const { headers, query } = request;
  if ((headers.authorization ?? '') === '') {
    return analyticsErrorReply(401, 'invalid_api_token', 'The header Authorization is missing.');
  }
  if (mediaTypeOf(headers) === '') {
    return analyticsErrorReply(400, 'missing_required_headers', 'Content-Type is missing.');
  }
  const finding = contract.checkParameters(operation, { query, headers });
  if (finding?.keyword === 'required') return refuseShape(finding);
  return refuseType(request) ?? (finding === null ? null : refuseShape(finding));
}

function refuseType(request: WireRequest): WireReply | null {
  const mediaType = mediaTypeOf(request.headers);
  if (mediaType !== 'application/json') {
    const text = `The content type "${mediaType}" is not supported.`;
    return analyticsErrorReply(415, 'unsupported_content_type', text);
  }
  const encoding = encodingOf(request);
  if (isAcceptedEncoding(encoding)) return null;
  const text = `The encoding "${encoding}" is not supported.`;
  return analyticsErrorReply(415, 'unsupported_encoding', text);
}

function decode(request: WireRequest, maxBytes: number): { readonly body: unknown } | WireReply {
  const { payload } = request;
  if (payload.length === 0) return analyticsErrorReply(400, 'empty_body', 'There is no body.');
  try {
    const text = decodeUtf8(removeEncoding(encodingOf(request), payload, maxBytes));
    return { body: parseJson(text) };
  } catch (error) {
    if (error instanceof BodyTooLargeError) {
      return analyticsErrorReply(413, 'payload_too_large', error.message);
    }
    if (!(error instanceof DecodeError)) throw error;
    const tag = error.isSyntax ? 'request_parsing_error' : 'request_decoding_error';
    return analyticsErrorReply(400, tag, `The body cannot be read: ${error.reason}.`);
  }
}

function encodingOf(request: WireRequest): string {
  return (request.headers['content-encoding'] ?? '').trim().toLowerCase();
}

function refuseShape({ instancePath, keyword, params, message }: ErrorObject): WireReply {
  const [, place, ...steps] = instancePath.split('/');
  const field = steps.join('.');
  if (place === 'header') {
    const missing: unknown = params.missingProperty;
    return keyword === 'required'
      ? analyticsErrorReply(400, 'missing_required_headers', `The header ${missing} is missing.`)
      : analyticsErrorReply(400, 'invalid_header_value', `The header ${field} ${message}.`);
  }
  const isAboutBatch = field.startsWith('batch') || params.missingProperty === 'batch';
  const tag = isAboutBatch ? 'invalid_batch' : 'request_parsing_error';
  return analyticsErrorReply(400, tag, `${field === '' ? 'The body' : field} ${message}.`);
}

function withHeaders(reply: WireReply, headers: Readonly<Record<string, string>>): WireReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}
