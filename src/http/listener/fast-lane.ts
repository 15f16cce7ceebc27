import type { ServerResponse } from 'node:http';
import type { ContractOperation } from '../contract/contract-document.ts';
import { createRouteTable, type FoundRoute } from '../contract/route-table.ts';
import { isAnsweredDirectly } from '../pipeline/answer-directly.ts';
import { ingestLimitsOf, refuseLargeBody } from '../pipeline/ingest.ts';
import type { Eventually, WireReply, WireRequest } from '../pipeline/wire.ts';
import { appendPiece } from './append-piece.ts';
import type { BodyMessage, TakePiece } from './body-message.ts';
import { baseUrlOf, parseQuery, splitTarget } from './request-target.ts';
import { type Envelope, writeReply } from './write-reply.ts';

/** Answers a request completely: it never throws, and it has recorded what it answered. */
export type AnswerCompletely = (
  operation: ContractOperation,
  request: WireRequest,
) => Eventually<WireReply>;

/** Counts and logs a request that was refused before it could be read. */
export type RecordRefusal = (operationId: string, status: number, requestId: string) => void;

/** Takes a request if it is for an operation that carries the traffic, and says whether it did. */
export type HotPath = (
  message: BodyMessage,
  response: ServerResponse,
  envelope: Envelope,
) => boolean;

/**
 * The short way to the operations that evaluate, capture and serve definitions: past Hapi's request
 * life cycle, which costs more than the work itself. The same pipeline answers as behind Hapi's
 * routes.
 */
export function createHotPath(
  operations: readonly ContractOperation[],
  answer: AnswerCompletely,
  recordRefusal: RecordRefusal,
  lingerMs = LINGER_MS,
): HotPath {
  const withBody = createRouteTable(
    operations.filter((each) => each.method === 'POST' && ingestLimitsOf(each) !== undefined),
  );
  const withoutBody = createRouteTable(operations.filter(isAnsweredDirectly));

  function respond(found: FoundRoute, incoming: Incoming, payload: Buffer): void {
    const { message, response, envelope, receivedAt } = incoming;
    try {
      const reply = answer(found.operation, {
        method: message.method ?? '',
        path: incoming.path,
        params: found.params,
        query: parseQuery(incoming.search),
        headers: message.headers,
        payload,
        baseUrl: baseUrlOf(message),
        requestId: envelope.requestId,
        receivedAt,
      });
      if (!(reply instanceof Promise)) writeReply(response, reply, envelope);
      else {
        reply.then(
          (later) => writeReply(response, later, envelope),
          () => response.destroy(),
        );
      }
    } catch {
      response.destroy();
    }
  }

  return (message, response, envelope) => {
    const isPost = message.method === 'POST';
    if (!isPost && message.method !== 'GET' && message.method !== 'HEAD') return false;
    const { path, search } = splitTarget(message.url ?? '/');
    const found = (isPost ? withBody : withoutBody).find(path);
    if (found === undefined) return false;
    const incoming = { message, response, envelope, path, search, receivedAt: new Date() };
    if (!isPost) {
      message.takeBody(IGNORE);
      respond(found, incoming, NO_PAYLOAD);
      return true;
    }
    const maxBytes = ingestLimitsOf(found.operation)?.rawMaxBytes ?? 0;
    readBody(message, maxBytes, (payload) => {
      if (payload !== null) {
        respond(found, incoming, payload);
        return;
      }
      recordRefusal(found.operation.id, TOO_LARGE, envelope.requestId);
      lingerAfter(response, message, lingerMs);
      writeReply(response, refuseLargeBody(found.operation, maxBytes), envelope);
    });
    return true;
  };
}

interface Incoming {
  readonly message: BodyMessage;
  readonly response: ServerResponse;
  readonly envelope: Envelope;
  readonly path: string;
  readonly search: string;
  readonly receivedAt: Date;
}

const TOO_LARGE = 413;

/** How long a client may go on sending a body that was refused: a stop waits for it, too. */
const LINGER_MS = 3_000;

/**
 * Keeps the connection for a while after a reply that comes before the end of the body. To end it at
 * once would be too early: the system answers what was not read with a reset, and the client never
 * sees the refusal.
 */
function lingerAfter(response: ServerResponse, message: BodyMessage, lingerMs: number): void {
  const { socket } = message;
  const isLast = !response.shouldKeepAlive;
  // Node would end the connection with the reply.
  response.shouldKeepAlive = true;
  response.once('finish', () => {
    const timer = setTimeout(() => {
      if (isLast || !message.complete) socket.destroy();
    }, lingerMs);
    timer.unref();
  });
}

/** What comes with a request that has no use for a body. */
const IGNORE: TakePiece = () => {};

const NO_PAYLOAD = Buffer.alloc(0);

/** Reads the body; null once it is over the limit. Calls back once, and not after an abort. */
function readBody(
  message: BodyMessage,
  maxBytes: number,
  done: (payload: Buffer | null) => void,
): void {
  let body: Buffer = NO_PAYLOAD;
  let bytes = 0;
  message.takeBody((piece) => {
    if (bytes > maxBytes) return;
    if (piece === null) {
      done(body.length === bytes ? body : body.subarray(0, bytes));
      return;
    }
    const before = bytes;
    bytes += piece.length;
    if (bytes > maxBytes) {
      body = NO_PAYLOAD;
      done(null);
      return;
    }
    // Nearly every body comes in one piece, which is the body then.
    body = before === 0 ? piece : appendPiece(body, before, piece);
  });
}
