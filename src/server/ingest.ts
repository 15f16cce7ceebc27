import type { ErrorObject } from 'ajv';
import type { Contract } from './contract.ts';
import type { ContractOperation } from './contract-document.ts';
import {
  BodyTooLargeError,
  DecodeError,
  decodeIngestBody,
  type IngestPacking,
} from './decode-body.ts';
import { textReply } from './error-reply.ts';
import type { Handlers } from './operation.ts';
import { runHandler } from './run-handler.ts';
import type { WireReply, WireRequest } from './wire.ts';

interface IngestLimits {
  /** The most bytes of a body as it is sent. */
  readonly rawMaxBytes: number;
  /** The most bytes of a body after inflating. */
  readonly inflatedMaxBytes: number;
}

const MIB = 1024 * 1024;

/** The operations that carry the traffic, with the sizes that their clients keep to. */
const LIMITS: Readonly<Record<string, IngestLimits>> = {
  evaluateFlags: { rawMaxBytes: 2 * MIB, inflatedMaxBytes: 4 * MIB },
  captureEvent: { rawMaxBytes: 2 * MIB, inflatedMaxBytes: 25 * MIB },
  captureBatch: { rawMaxBytes: 20 * MIB, inflatedMaxBytes: 25 * MIB },
};

/** The limits of an operation that evaluates or captures; undefined for any other. */
export function ingestLimitsOf(operation: ContractOperation): IngestLimits | undefined {
  return LIMITS[operation.id];
}

/** Answers a request to evaluate or capture. Failures other than bad bodies are thrown. */
export type AnswerIngest = (
  operation: ContractOperation,
  request: WireRequest,
) => Promise<WireReply>;

/**
 * The pipeline of the operations that evaluate and capture: decode, check with the contract's own
 * compiled validator, run the contract's handler. Both lanes that lead to those operations end
 * here, so they cannot answer differently.
 */
export function createIngest(contract: Contract, handlers: Handlers): AnswerIngest {
  return async (operation, request) => {
    const limits = ingestLimitsOf(operation);
    if (limits === undefined) throw new Error(`${operation.id} has no ingest limits.`);
    if (request.payload.length > limits.rawMaxBytes) {
      return refuseLargeBody(operation, limits.rawMaxBytes);
    }
    let body: unknown;
    try {
      body = decodeIngestBody(request.headers, request.payload, {
        ...limits,
        ...packingOf(operation, request),
      });
    } catch (error) {
      if (error instanceof BodyTooLargeError) return refuseLargeBody(operation, error.limitBytes);
      if (error instanceof DecodeError) return refuseBody(operation, request, error);
      throw error;
    }
    const checked = contract.check(operation, { query: request.query, body });
    if ('keyword' in checked) return refuseShape(operation, checked);
    const parts = { params: {}, query: checked.query, requestBody: body };
    return runHandler(handlers, operation, { request, caller: null, access: null }, parts);
  };
}

/** How the query says that the body is packed. Capture takes no notice of names it does not know. */
function packingOf(operation: ContractOperation, request: WireRequest): IngestPacking {
  const name = (request.query.compression ?? '').toLowerCase();
  const isStrict = operation.errorStyle === 'evaluation';
  if (name === 'gzip' || name === 'gzip-js') return { isFormGzipRefused: isStrict };
  if (isStrict && name !== '' && name !== 'base64') return { isUnsupported: true };
  return {};
}

/** The reply to a body over the limit. */
export function refuseLargeBody(operation: ContractOperation, limitBytes: number): WireReply {
  const text = `the body is larger than ${limitBytes} bytes`;
  return operation.errorStyle === 'capture'
    ? textReply(413, `maximum event size exceeded: ${text}`)
    : textReply(413, `Request body too large: ${text}.`);
}

function refuseBody(
  operation: ContractOperation,
  request: WireRequest,
  error: DecodeError,
): WireReply {
  if (operation.errorStyle === 'evaluation') {
    return textReply(400, evaluationRefusal(error.isSyntax ? 'invalid JSON' : error.reason));
  }
  if (request.payload.length === 0) return textReply(400, 'request missing data payload');
  const step = error.isSyntax ? 'parse' : 'decode';
  return textReply(400, `failed to ${step} request: ${error.reason}`);
}

/** A request of the wrong shape, with the field that is wrong. */
function refuseShape(operation: ContractOperation, finding: ErrorObject): WireReply {
  const [, place, ...steps] = finding.instancePath.split('/');
  const field = steps.join('.');
  const subject = field === '' ? 'the body' : field;
  const where = place === 'query' ? `query parameter ${subject}` : subject;
  const complaint = `${where} ${finding.message ?? 'is not valid'}`;
  if (operation.errorStyle !== 'evaluation') {
    return textReply(400, `failed to hydrate events from request: ${complaint}`);
  }
  return textReply(
    400,
    evaluationRefusal(place === 'query' ? complaint : `invalid JSON: ${complaint}`),
  );
}

function evaluationRefusal(reason: string): string {
  return `Failed to decode request: ${reason}. Please check your request format and try again.`;
}
