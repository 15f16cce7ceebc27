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
) => boolean;

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
  return (message, response, requestId) => {
    if (message.method !== 'POST') return false;
    const { path, search } = splitTarget(message.url ?? '/');
    const operation = operationsByPath.get(path);
    if (operation === undefined) return false;
    const receivedAt = new Date();
    readBody(message, ingestLimitsOf(operation)?.rawMaxBytes ?? 0, (payload) => {
      if (payload === null) {
        response.setHeader('connection', 'close');
        recordRefusal(operation.id, TOO_LARGE, requestId);
        writeReply(
          response,
          refuseLargeBody(operation, ingestLimitsOf(operation)?.rawMaxBytes ?? 0),
        );
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
        (reply) => writeReply(response, reply),
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

/** Sends a reply in one write. */
export function writeReply(response: ServerResponse, reply: WireReply): void {
  if (response.destroyed || response.headersSent) return;
  const { body } = reply;
  if (body === null) {
    response.writeHead(reply.status, reply.headers).end();
    return;
  }
  response.writeHead(reply.status, {
    ...reply.headers,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
