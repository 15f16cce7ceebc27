import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { refuseMethod } from '../styles/refuse-method.ts';
import { renderRefusal } from '../styles/render-refusal.ts';
import { requestIdOf, splitTarget } from '../wire/request-target.ts';
import type { WireReply } from '../wire/wire.ts';
import {
  Admission,
  type AdmissionLimits,
  type Connection,
  type Load,
  limitsFor,
  overloaded,
} from './admission.ts';
import { answerOptions, originOf } from './cors.ts';
import type { FastLane } from './fast-lane.ts';
import { answerHealth, HEALTH_METHODS, isHealthPath, notReadyReply } from './health.ts';
import { BodyMessage } from './node-internals.ts';
import { type Envelope, envelopeHeaders, writeReply } from './write-reply.ts';

/** Where a started application takes requests. */
export interface Application {
  readonly fastLane: FastLane;
  readonly forwardToHapi: (message: IncomingMessage, response: ServerResponse) => void;
  /** The methods that a path answers; none when there is no such path. */
  readonly methodsOf: (path: string) => readonly string[];
  /** Whether flags can be served. */
  readonly isReady: () => boolean;
}

/** The HTTP listener: it answers health checks at once, and everything else once there is an application. */
export interface Listener {
  /** Starts to listen; rejects when the address is taken. Returns the port. */
  listen(port: number, host: string): Promise<number>;
  /** From now on the application takes the requests. */
  open(application: Application): void;
  /** What is under way, health checks apart. */
  load(): Load;
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

/** The longest that the head of a request may take to arrive. */
const HEADERS_TIMEOUT_MS = 20_000;

/** What a body without a length may come to, behind Hapi. */
const UNANNOUNCED_BYTES = 4_194_304;

/** Makes the listener; it does not listen yet. */
export function createListener(limits: AdmissionLimits = limitsFor()): Listener {
  let application: Application | null = null;
  let isStopping = false;
  const admission = new Admission(limits);
  const connections = new Map<Socket, Connection>();

  /** What a reply says beside its answer, the end of its connection as it is when it is sent. */
  class ListenerEnvelope implements Envelope {
    readonly requestId: string;
    readonly origin: string | undefined;

    constructor(message: IncomingMessage) {
      this.requestId = requestIdOf(message);
      this.origin = originOf(message);
    }

    // On the prototype: an accessor in an object literal is defined anew for every request.
    get isLast(): boolean {
      return isStopping;
    }
  }

  function connect(socket: Socket): Connection {
    const connection = admission.connect(socket.remoteAddress ?? '');
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      connection.close();
    });
    return connection;
  }

  const options = {
    maxHeaderSize: HEADERS_MAX_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    IncomingMessage: BodyMessage,
  };
  const server = createServer(options, (message, response) => {
    const connection = connections.get(message.socket) ?? connect(message.socket);
    connection.hasAsked = true;
    const envelope = new ListenerEnvelope(message);
    if (application?.fastLane(message, response, envelope, connection) === true) return;
    const reply = answerItself(message, application, isStopping);
    if (reply !== null || application === null) {
      writeReply(response, reply ?? notReadyReply(), envelope);
      return;
    }
    const bytes = heldBytes(message);
    if (!connection.enter(bytes)) {
      writeReply(response, renderRefusal(overloaded(), 'management'), envelope);
      return;
    }
    response.once('close', () => connection.leave(bytes));
    // Hapi's side reads the id here, so that both lanes tell the same one.
    message.headers['x-request-id'] = envelope.requestId;
    const shared = envelopeHeaders(envelope);
    for (let at = 0; at + 1 < shared.length; at += 2) {
      response.setHeader(shared[at] ?? '', shared[at + 1] ?? '');
    }
    application.forwardToHapi(message, response);
  });

  server.on('connection', connect);

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve(portOf(server.address()));
        });
      }),
    load: () => admission.load(),
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
        for (const [socket, { hasAsked }] of connections) if (!hasAsked) socket.destroy();
      });
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('No port is listened on.');
  return address.port;
}

/** How many bytes of a body Hapi may hold for the request. */
function heldBytes({ headers, method }: IncomingMessage): number {
  const announced = headers['content-length'];
  if (announced !== undefined) return Math.min(Number(announced), UNANNOUNCED_BYTES);
  return method === 'GET' || method === 'HEAD' || headers['transfer-encoding'] === undefined
    ? 0
    : UNANNOUNCED_BYTES;
}

/** The reply to what needs no application: OPTIONS and health checks. */
function answerItself(
  message: IncomingMessage,
  application: Application | null,
  isStopping: boolean,
): WireReply | null {
  const { path } = splitTarget(message.url ?? '/');
  const name = path.replace(/\/$/, '');
  const isHealth = isHealthPath(name);
  if (message.method === 'OPTIONS') {
    const methods = isHealth ? HEALTH_METHODS : application?.methodsOf(path);
    return answerOptions(message, methods ?? []);
  }
  if (!HTTP_METHODS.has(message.method ?? '')) {
    const methods = application?.methodsOf(path) ?? [];
    return methods.length === 0 ? null : refuseMethod(message.method ?? '', methods.join(', '));
  }
  if (!isHealth || (message.method !== 'GET' && message.method !== 'HEAD')) return null;
  return answerHealth(name, { isReady: application?.isReady() === true, isStopping });
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
