import type { ErrorObject } from 'ajv';
import type { Handlers } from '../../operations/operation.ts';
import type { Contract } from '../contract/contract.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import { nameAsSent, settleFieldNames } from '../contract/field-aliases.ts';
import { BodyTooLargeError, DecodeError } from '../decode/body-parts.ts';
import { decodeIngestBody, type IngestOptions } from '../decode/decode-body.ts';
import { analyticsErrorReply, textReply } from './error-reply.ts';
import { answerAnalytics } from './ingest-v1.ts';
import { runHandler } from './run-handler.ts';
import type { Eventually, WireReply, WireRequest } from './wire.ts';

interface IngestLimits {
  /** The most bytes of a body as it is sent. */
  readonly rawMaxBytes: number;
  /** The most bytes of a body after inflating. */
  readonly inflatedMaxBytes: number;
  /** The body is thrown away as it is, whatever it may be. */
  readonly isBodyIgnored?: boolean;
}

const MIB = 1024 * 1024;

/** The operations that carry the traffic, with the sizes that their clients keep to. */
const LIMITS: Readonly<Record<string, IngestLimits>> = {
  evaluateFlags: { rawMaxBytes: 2 * MIB, inflatedMaxBytes: 4 * MIB },
  captureEvent: { rawMaxBytes: 2 * MIB, inflatedMaxBytes: 25 * MIB },
  captureEventByQuery: { rawMaxBytes: 2 * MIB, inflatedMaxBytes: 25 * MIB },
  captureBatch: { rawMaxBytes: 20 * MIB, inflatedMaxBytes: 25 * MIB },
  captureAnalyticsEvents: { rawMaxBytes: 10 * MIB, inflatedMaxBytes: 50 * MIB },
  discardTelemetry: { rawMaxBytes: 25 * MIB, inflatedMaxBytes: 0, isBodyIgnored: true },
};

/** The limits of an operation that evaluates or captures; undefined for any other. */
export function ingestLimitsOf(operation: ContractOperation): IngestLimits | undefined {
  return LIMITS[operation.id];
}

/** Answers a request to evaluate or capture. Failures other than bad bodies are thrown. */
export type AnswerIngest = (
  operation: ContractOperation,
  request: WireRequest,
) => Eventually<WireReply>;

/**
 * The pipeline of the operations that evaluate and capture: decode, check with the contract's own
 * compiled validator, run the contract's handler. Both lanes that lead to those operations end
 * here, so they cannot answer differently.
 */
export function createIngest(contract: Contract, handlers: Handlers): AnswerIngest {
  return (operation, request) => {
    const limits = ingestLimitsOf(operation);
    if (limits === undefined) throw new Error(`${operation.id} has no ingest limits.`);
    if (request.payload.length > limits.rawMaxBytes) {
      return refuseLargeBody(operation, limits.rawMaxBytes);
    }
    if (operation.errorStyle === 'capture_v1') {
      return answerAnalytics(contract, handlers, operation, request, limits.inflatedMaxBytes);
    }
    let body: unknown;
    if (limits.isBodyIgnored !== true) {
      const { headers, payload } = packedBodyOf(operation, request);
      try {
        const options = decodingOf(operation, request, limits.inflatedMaxBytes);
        body = decodeIngestBody(headers, payload, options);
      } catch (error) {
        if (error instanceof BodyTooLargeError) return refuseLargeBody(operation, error.limitBytes);
        if (error instanceof DecodeError) return refuseBody(operation, payload, error);
        throw error;
      }
    }
    settleFieldNames(body, operation.fieldAliases);
    const checked = contract.check(operation, { query: request.query, body });
    if ('keyword' in checked) return refuseShape(operation, body, checked);
    const parts = { params: {}, query: checked.query, requestBody: body };
    return runHandler(handlers, operation, { request, caller: null, access: null }, parts);
  };
}

/** Where the body is: capture also takes it from the query, where it goes before the body. */
function packedBodyOf(
  operation: ContractOperation,
  request: WireRequest,
): Pick<WireRequest, 'headers' | 'payload'> {
  const { data = '' } = request.query;
  if (operation.errorStyle !== 'capture' || data === '') return request;
  return { headers: {}, payload: Buffer.from(data) };
}

/** How the body is decoded. Of packings, capture takes no notice of names that it does not know. */
function decodingOf(
  operation: ContractOperation,
  request: WireRequest,
  inflatedMaxBytes: number,
): IngestOptions {
  const compression = request.query.compression?.toLowerCase();
  const isLenient = operation.errorStyle !== 'evaluation';
  const isGzip = compression === 'gzip' || compression === 'gzip-js';
  const isKnown = isLenient || isGzip || PLAIN.has(compression);
  // Every field every time: an object that is put together from others is slow to make and to read.
  return {
    inflatedMaxBytes,
    isLenient,
    isUnsupported: !isKnown,
    isFormGzipRefused: !isLenient && isGzip,
    compression: isLenient ? compression : undefined,
  };
}

const PLAIN: ReadonlySet<string | undefined> = new Set([undefined, '', 'base64']);

/** The reply to a body over the limit. */
export function refuseLargeBody(operation: ContractOperation, limitBytes: number): WireReply {
  const text = `the body is larger than ${limitBytes} bytes`;
  if (operation.errorStyle === 'capture_v1') {
    return analyticsErrorReply(
      413,
      'payload_too_large',
      `The body is larger than ${limitBytes} bytes.`,
    );
  }
  return operation.errorStyle === 'capture'
    ? textReply(413, `maximum event size exceeded: ${text}`)
    : textReply(413, `Request body too large: ${text}.`);
}

function refuseBody(operation: ContractOperation, payload: Buffer, error: DecodeError): WireReply {
  if (operation.errorStyle === 'evaluation') {
    return textReply(400, evaluationRefusal(error.isSyntax ? 'invalid JSON' : error.reason));
  }
  if (payload.length === 0) return textReply(400, 'request missing data payload');
  const step = error.isSyntax ? 'parse' : 'decode';
  return textReply(400, `failed to ${step} request: ${error.reason}`);
}

/** A request of the wrong shape, with the field that is wrong. */
function refuseShape(operation: ContractOperation, body: unknown, finding: ErrorObject): WireReply {
  const [, place, name = '', ...inside] = finding.instancePath.split('/');
  const field = [nameAsSent(body, operation.fieldAliases, name), ...inside].join('.');
  const subject = field === '' ? 'the body' : field;
  const where = place === 'query' ? `query parameter ${subject}` : subject;
  const complaint = `${where} ${describeFinding(finding)}`;
  if (operation.errorStyle !== 'evaluation') {
    return textReply(400, `failed to hydrate events from request: ${complaint}`);
  }
  return textReply(
    400,
    evaluationRefusal(place === 'query' ? complaint : `invalid JSON: ${complaint}`),
  );
}

/** The one thing that the contract rules out by `not`, in requests of this kind, is a lone value. */
function describeFinding({ keyword, message = 'is not valid' }: ErrorObject): string {
  return keyword === 'not' ? 'must not be a text, a number, true or false' : message;
}

function evaluationRefusal(reason: string): string {
  return `Failed to decode request: ${reason}. Please check your request format and try again.`;
}
