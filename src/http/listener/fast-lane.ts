import type { ServerResponse } from 'node:http';
import type { Refusal } from '../../domain/common/refusal.ts';
import { createRouteTable, type FoundRoute } from '../contract/route-table.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { OperationPlan } from '../pipeline/plan.ts';
import { baseUrlOf, parseQuery, splitTarget } from '../wire/request-target.ts';
import type { WireReply, WireRequest } from '../wire/wire.ts';
import { type Connection, overloaded } from './admission.ts';
import { type BodyMessage, lingerAfter, type TakePiece } from './node-internals.ts';
import { readBody } from './read-body.ts';
import { type Envelope, writeReply } from './write-reply.ts';

/** Takes a request if it is for an operation that carries the traffic, and says whether it did. */
export type FastLane = (
  message: BodyMessage,
  response: ServerResponse,
  envelope: Envelope,
  connection: Connection,
) => boolean;

/** How long a client may go on sending a body that was refused: a stop waits for it, too. */
const LINGER_MS = 3_000;

const NO_PAYLOAD = Buffer.alloc(0);

/** What comes with a request that has no use for a body. */
const IGNORE: TakePiece = () => {};

/** A request of the fast lane while it is under way. */
interface Incoming {
  readonly message: BodyMessage;
  readonly response: ServerResponse;
  readonly envelope: Envelope;
  readonly connection: Connection;
  readonly found: FoundRoute<OperationPlan>;
  readonly search: string;
  readonly receivedAt: Date;
}

/**
 * The adapter for the operations that evaluate, capture and serve definitions: it bypasses Hapi's
 * request life cycle, which costs more than the work itself. The pipeline is the same as behind
 * Hapi's routes.
 */
export function createFastLane(
  plans: readonly OperationPlan[],
  pipeline: Pipeline,
  lingerMs = LINGER_MS,
): FastLane {
  const fast = plans.filter(({ operation }) => operation.isFast);
  const withBody = createRouteTable(fast.filter(({ operation }) => operation.method === 'POST'));
  const withoutBody = createRouteTable(fast.filter(({ operation }) => operation.method === 'GET'));

  /** `held` is what the body took of the room for bodies. */
  function respond(incoming: Incoming, payload: Buffer, held: number): void {
    const { response, envelope, connection } = incoming;
    const send = (reply: WireReply) => {
      connection.leave(held);
      writeReply(response, reply, envelope);
    };
    // The pipeline answers always. If it ever does not, this costs the connection, not the process.
    try {
      const reply = pipeline.run(incoming.found.route, toWireRequest(incoming, payload));
      if (reply instanceof Promise) reply.then(send).catch(() => response.destroy());
      else send(reply);
    } catch {
      response.destroy();
    }
  }

  function refuse(incoming: Incoming, refusal: Refusal): void {
    const { message, response, envelope, found } = incoming;
    const reply = pipeline.refuse(found.route, refusal, envelope.requestId);
    lingerAfter(response, message, lingerMs);
    writeReply(response, reply, envelope);
  }

  return (message, response, envelope, connection) => {
    const isPost = message.method === 'POST';
    if (!isPost && message.method !== 'GET' && message.method !== 'HEAD') return false;
    const { path, search } = splitTarget(message.url ?? '/');
    const found = (isPost ? withBody : withoutBody).find(path);
    if (found === undefined) return false;
    const receivedAt = new Date();
    const incoming = { message, response, envelope, connection, found, search, receivedAt };
    const announced = isPost ? announcedBytes(message) : 0;
    const { body } = found.route;
    const maxBytes = body?.bounds.maxBytes ?? 0;
    if (isPost && announced > maxBytes) {
      message.takeBody(IGNORE);
      refuse(incoming, tooLarge(incoming, maxBytes));
      return true;
    }
    const reserved = body?.isIgnored === true ? 0 : announced;
    if (!connection.enter(reserved)) {
      message.takeBody(IGNORE);
      refuse(incoming, overloaded());
      return true;
    }
    if (!isPost) {
      message.takeBody(IGNORE);
      respond(incoming, NO_PAYLOAD, 0);
      return true;
    }
    const bounds = { maxBytes, reserved, isIgnored: body?.isIgnored === true };
    readBody(message, connection, bounds, (payload, held) => {
      if (Buffer.isBuffer(payload)) {
        respond(incoming, payload, held);
        return;
      }
      connection.leave(held);
      refuse(incoming, payload === 'too_large' ? tooLarge(incoming, maxBytes) : overloaded());
    });
    return true;
  };
}

function toWireRequest(incoming: Incoming, payload: Buffer): WireRequest {
  const { message, envelope, found } = incoming;
  return {
    method: message.method ?? '',
    path: found.path,
    params: found.params,
    query: parseQuery(incoming.search),
    headers: message.headers,
    payload,
    baseUrl: baseUrlOf(message),
    requestId: envelope.requestId,
    receivedAt: incoming.receivedAt,
    peer: message.socket,
  };
}

/** How many bytes the head announces; 0 when it does not say. */
function announcedBytes({ headers }: BodyMessage): number {
  const text = headers['content-length'];
  return text === undefined ? 0 : Number(text);
}

/** The refusal of a body that is over its limit, which need not be read for that. */
function tooLarge({ found }: Incoming, maxBytes: number): Refusal {
  return found.route.refuseLarge(maxBytes);
}
