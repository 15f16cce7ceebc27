import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Refusal } from '../../domain/common/refusal.ts';
import { notReadyReply } from '../hapi/hapi-server.ts';
import { jsonReply, toErrorReply } from '../pipeline/error-reply.ts';
import type { WireReply } from '../pipeline/wire.ts';
import { BodyMessage } from './body-message.ts';
import { answerOptions } from './cors.ts';
import type { HotPath } from './fast-lane.ts';
import { requestIdOf, splitTarget } from './request-target.ts';
import { type Envelope, envelopeHeaders, writeReply } from './write-reply.ts';

/** Where a started application takes requests. */
export interface Application {
  readonly hotPath: HotPath;
  readonly handOver: (message: IncomingMessage, response: ServerResponse) => void;
  /** The methods that a path answers; none when there is no such path. */
  readonly methodsOf: (path: string) => readonly string[];
  /** Whether flags can be served. */
  readonly isReady: () => boolean;
}

/** The HTTP listener: it answers health checks at once, and everything else once there is an application. */
export interface Front {
  /** Starts to listen; rejects when the address is taken. Returns the port. */
  listen(port: number, host: string): Promise<number>;
  /** From now on the application takes the requests. */
  open(application: Application): void;
  /** Refuses new connections and waits for open requests, at most this long. */
  close(graceMs: number): Promise<void>;
}

const SWEEP_EVERY_MS = 50;

/** Longer than proxies keep a connection, so that they and not Burgee end it. */
const KEEP_ALIVE_MS = 65_000;

/** Room for what the contract lets be in a query, every character of it escaped. */
const HEADERS_MAX_BYTES = 262_144;

/** The longest that a whole request may take to arrive. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Makes the listener; it does not listen yet. */
export function createFront(): Front {
  let application: Application | null = null;
  let isStopping = false;
  /** Connections on which nobody has asked for anything yet; Node does not count them as idle. */
  const silent = new Set<Socket>();

  /** What a reply says beside its answer, the end of its connection as it is when it is sent. */
  class FrontEnvelope implements Envelope {
    readonly requestId: string;
    readonly origin: string | undefined;

    constructor(message: IncomingMessage) {
      this.requestId = requestIdOf(message);
      this.origin = message.headers.origin;
    }

    // On the prototype: an accessor in an object literal is defined anew for every request.
    get isLast(): boolean {
      return isStopping;
    }
  }

  const options = { maxHeaderSize: HEADERS_MAX_BYTES, IncomingMessage: BodyMessage };
  const server = createServer(options, (message, response) => {
    silent.delete(message.socket);
    const envelope = new FrontEnvelope(message);
    if (application?.hotPath(message, response, envelope) === true) return;
    const reply = answerItself(message, application, isStopping);
    if (reply !== null || application === null) {
      writeReply(response, reply ?? notReadyReply('starting'), envelope);
      return;
    }
    // Hapi's side reads the id here, so that both lanes tell the same one.
    message.headers['x-request-id'] = envelope.requestId;
    const shared = envelopeHeaders(envelope);
    for (let at = 0; at + 1 < shared.length; at += 2) {
      response.setHeader(shared[at] ?? '', shared[at + 1] ?? '');
    }
    application.handOver(message, response);
  });

  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;

  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve(portOf(server.address()));
        });
      }),
    open(opened) {
      application = opened;
    },
    close(graceMs) {
      isStopping = true;
      return new Promise((resolve) => {
        const giveUp = setTimeout(() => server.closeAllConnections(), graceMs);
        // A connection that waits for its client's next request would keep the listener open.
        const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_EVERY_MS);
        server.close(() => {
          clearTimeout(giveUp);
          clearInterval(sweep);
          resolve();
        });
        for (const socket of silent) socket.destroy();
      });
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('No port is listened on.');
  return address.port;
}

/** The reply to what needs no application: OPTIONS and health checks. */
function answerItself(
  message: IncomingMessage,
  application: Application | null,
  isStopping: boolean,
): WireReply | null {
  const { path } = splitTarget(message.url ?? '/');
  const name = path.replace(/\/$/, '');
  const isHealth = name === '/_liveness' || name === '/_readiness';
  if (message.method === 'OPTIONS') {
    const methods = isHealth ? HEALTH_METHODS : application?.methodsOf(path);
    return answerOptions(message, methods ?? []);
  }
  if (!HTTP_METHODS.has(message.method ?? '')) {
    return refuseMethod(message.method ?? '', application?.methodsOf(path) ?? []);
  }
  if (!isHealth || (message.method !== 'GET' && message.method !== 'HEAD')) return null;
  return answerHealth(name, application, isStopping);
}

/** The methods that routes can have. */
const HTTP_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
]);

/** The refusal of a method that no route can have, such as TRACE; null where there is no path. */
function refuseMethod(method: string, allowed: readonly string[]): WireReply | null {
  if (allowed.length === 0) return null;
  const error = new Refusal('method_not_allowed', `Method "${method}" not allowed.`);
  const reply = toErrorReply(error, 'management');
  return { ...reply, headers: { ...reply.headers, allow: allowed.join(', ') } };
}

const HEALTH_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** The reply to `/_liveness` and `/_readiness`. */
function answerHealth(
  name: string,
  application: Application | null,
  isStopping: boolean,
): WireReply {
  if (name === '/_liveness') return jsonReply(200, { status: 'alive' });
  if (isStopping) return jsonReply(503, { status: 'stopping' });
  const isReady = application?.isReady() === true;
  return jsonReply(isReady ? 200 : 503, { status: isReady ? 'ready' : 'starting' });
}
