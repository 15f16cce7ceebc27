import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { answerOptions, originHeaders } from './cors.ts';
import { notReadyReply } from './create-server.ts';
import { jsonReply } from './error-reply.ts';
import { type HotPath, writeReply } from './hot-path.ts';
import type { WireReply } from './wire.ts';
import { requestIdOf, splitTarget } from './wire-request.ts';

/** Where a started application takes requests. */
export interface Application {
  readonly hotPath: HotPath;
  readonly handOver: (message: IncomingMessage, response: ServerResponse) => void;
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

const CLOSING = { connection: 'close' };

/** Longer than proxies keep a connection, so that they and not Burgee end it. */
const KEEP_ALIVE_MS = 65_000;

/** The longest that a whole request may take to arrive. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Makes the listener; it does not listen yet. */
export function createFront(): Front {
  let application: Application | null = null;
  let isStopping = false;
  /** Connections on which nobody has asked for anything yet; Node does not count them as idle. */
  const silent = new Set<Socket>();

  const server = createServer((message, response) => {
    silent.delete(message.socket);
    const requestId = requestIdOf(message);
    // Hapi's side reads the id here, so that both lanes tell the same one.
    message.headers['x-request-id'] = requestId;
    const crossOrigin = originHeaders(message);
    const sharedHeaders = () => ({
      'x-request-id': requestId,
      ...crossOrigin,
      ...(isStopping ? CLOSING : null),
    });
    if (application?.hotPath(message, response, requestId, sharedHeaders) === true) return;
    if (message.method === 'OPTIONS') {
      answerOptions(message, response, sharedHeaders());
      return;
    }
    const health = answerHealth(message, application, isStopping);
    if (health !== null) writeReply(response, health, sharedHeaders());
    else if (application === null) {
      writeReply(response, notReadyReply('starting'), sharedHeaders());
    } else {
      for (const [name, value] of Object.entries(sharedHeaders())) response.setHeader(name, value);
      application.handOver(message, response);
    }
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

/** The reply to `/_liveness` and `/_readiness`; null for every other path. */
function answerHealth(
  message: IncomingMessage,
  application: Application | null,
  isStopping: boolean,
): WireReply | null {
  const { path } = splitTarget(message.url ?? '/');
  const name = path.replace(/\/$/, '');
  if (name !== '/_liveness' && name !== '/_readiness') return null;
  if (message.method !== 'GET' && message.method !== 'HEAD') return null;
  if (name === '/_liveness') return jsonReply(200, { status: 'alive' });
  if (isStopping) return jsonReply(503, { status: 'stopping' });
  const isReady = application?.isReady() === true;
  return jsonReply(isReady ? 200 : 503, { status: isReady ? 'ready' : 'starting' });
}
