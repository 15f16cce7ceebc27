import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ContractOperation } from './contract-document.ts';
import { ingestLimitsOf, refuseLargeBody } from './ingest.ts';
import type { WireReply, WireRequest } from './wire.ts';
import { baseUrlOf, parseQuery, splitTarget } from './wire-request.ts';

/** Answers a request completely: it never throws, and it has recorded what it answered. */
export type AnswerCompletely = (
  operation: ContractOperation,
  request: WireRequest,
) => Promise<WireReply>;

/** Counts and logs a request that was refused before it could be read. */
export type RecordRefusal = (operationId: string, status: number, requestId: string) => void;

/** Takes a request if it is for an operation that carries the traffic, and says whether it did. */
export type HotPath = (
  message: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  sharedHeaders: SharedHeaders,
) => boolean;

/** The headers that every reply has, as of the moment when it is sent. */
export type SharedHeaders = () => Readonly<Record<string, string>>;

/**
 * The short way to the operations that evaluate and capture: past Hapi's request life cycle, which
 * costs more than the work itself. The same pipeline answers as behind Hapi's routes.
 */
export function createHotPath(
  operations: readonly ContractOperation[],
  answer: AnswerCompletely,
  recordRefusal: RecordRefusal,
): HotPath {
  const operationsByPath = new Map<string, ContractOperation>();
  for (const operation of operations) {
    if (ingestLimitsOf(operation) === undefined) continue;
    for (const path of operation.paths) {
      operationsByPath.set(path, operation);
      operationsByPath.set(`${path}/`, operation);
    }
  }
  return (message, response, requestId, sharedHeaders) => {
    if (message.method !== 'POST') return false;
    const { path, search } = splitTarget(message.url ?? '/');
    const operation = operationsByPath.get(path);
    if (operation === undefined) return false;
    const receivedAt = new Date();
    readBody(message, ingestLimitsOf(operation)?.rawMaxBytes ?? 0, (payload) => {
      if (payload === null) {
        recordRefusal(operation.id, TOO_LARGE, requestId);
        const refusal = refuseLargeBody(operation, ingestLimitsOf(operation)?.rawMaxBytes ?? 0);
        writeReply(response, refusal, { ...sharedHeaders(), connection: 'close' });
        return;
      }
      answer(operation, {
        method: 'POST',
        path,
        params: {},
        query: parseQuery(search),
        headers: message.headers,
        payload,
        baseUrl: baseUrlOf(message),
        requestId,
        receivedAt,
      }).then(
        (reply) => writeReply(response, reply, sharedHeaders()),
        () => response.destroy(),
      );
    });
    return true;
  };
}

const TOO_LARGE = 413;

/** Reads the body; null once it is over the limit. Calls back once, and not after an abort. */
function readBody(
  message: IncomingMessage,
  maxBytes: number,
  done: (payload: Buffer | null) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  message.on('data', (chunk: Buffer) => {
    if (bytes > maxBytes) return;
    bytes += chunk.length;
    if (bytes > maxBytes) {
      chunks.length = 0;
      done(null);
    } else chunks.push(chunk);
  });
  message.on('end', () => {
    if (bytes > maxBytes) return;
    const [first] = chunks;
    done(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, bytes));
  });
  message.on('error', () => message.destroy());
}

/** Sends a reply. Headers go in one call: setting them one by one costs more than the body. */
export function writeReply(
  response: ServerResponse,
  reply: WireReply,
  sharedHeaders: Readonly<Record<string, string>>,
): void {
  if (response.destroyed || response.headersSent) return;
  const { status, headers, body } = reply;
  if (body === null) {
    response.writeHead(status, { ...sharedHeaders, ...headers }).end();
    return;
  }
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...sharedHeaders, ...headers, 'content-length': length });
  response.end(body);
}
