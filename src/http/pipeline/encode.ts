import { RawJson, type ReplyHeaders } from '../../operations/operation.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { WireReply, WireRequest } from '../wire/wire.ts';

/** What a handler answered. That it is what the contract declares was seen to by the compiler. */
export interface UncheckedReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: ReplyHeaders;
}

/** The headers of a reply that says nothing of its own. */
export const NO_HEADERS: ReplyHeaders = Object.freeze({});

/** The reply as bytes or text of the declared media type. Throws for a status that is not declared. */
export function encode(
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
