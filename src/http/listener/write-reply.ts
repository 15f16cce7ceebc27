import type { ServerResponse } from 'node:http';
import type { WireReply } from '../wire/wire.ts';
import { exposeTo } from './cors.ts';

/** What a reply says beside the answer itself. */
export interface Envelope {
  readonly requestId: string;
  /** The page that asks, if a browser says so. */
  readonly origin: string | undefined;
  /** Whether the connection ends with this reply; read when the reply is sent. */
  readonly isLast: boolean;
}

/** Longer texts cost less as bytes than as text that Node encodes piece by piece. */
const BYTES_FROM_LENGTH = 4_096;

/** The headers of every reply, names and values in turn; `vary` is what the reply says itself. */
export function envelopeHeaders(envelope: Envelope, vary?: string): string[] {
  const list = ['x-request-id', envelope.requestId];
  if (envelope.origin !== undefined) exposeTo(list, envelope.origin, vary);
  if (envelope.isLast) list.push('connection', 'close');
  return list;
}

/** Sends a reply. Headers go in one list: setting them one by one costs more than the body. */
export function writeReply(response: ServerResponse, reply: WireReply, envelope: Envelope): void {
  if (response.destroyed || response.headersSent) return;
  const { status, headers } = reply;
  const list = envelopeHeaders(envelope, headers.vary);
  for (const name in headers) list.push(name, headers[name] ?? '');
  if (reply.body === null) {
    response.writeHead(status, list).end();
    return;
  }
  if (reply.isAscii === true) {
    // Node sends head and body as one text then.
    list.push('content-length', String(reply.body.length));
    response.writeHead(status, list).end(reply.body, 'latin1');
    return;
  }
  const body =
    typeof reply.body === 'string' && reply.body.length >= BYTES_FROM_LENGTH
      ? Buffer.from(reply.body)
      : reply.body;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  list.push('content-length', String(length));
  response.writeHead(status, list).end(body);
}
