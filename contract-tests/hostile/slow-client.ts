import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A connection whose client takes its time. */
export interface SlowClient {
  /** The status and `Retry-After` of the reply, once there is one. */
  reply(): { readonly status: number; readonly retryAfter: string | null } | null;
  /** Whether the other side has ended it. */
  isClosed(): boolean;
  /** Sends more; what does not fit waits, and goes nowhere once there is a reply. */
  write(bytes: string | Buffer): void;
  end(): void;
}

const STATUS = /^HTTP\/1\.1 (\d{3})/;
const RETRY_AFTER = /^retry-after: *(\S+)/im;
const CHUNK_BYTES = 65_536;

/** Opens a connection and sends nothing on it. */
export function openSlowClient(url: string, localAddress: string | null): SlowClient {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect({
    host: hostname,
    port: Number(port),
    ...(localAddress === null ? {} : { localAddress }),
  });
  let received = '';
  let isClosed = false;
  socket.setEncoding('latin1');
  socket.on('data', (text) => {
    received += text;
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    isClosed = true;
  });
  return {
    reply: () => {
      const status = STATUS.exec(received)?.[1];
      if (status === undefined) return null;
      return { status: Number(status), retryAfter: RETRY_AFTER.exec(received)?.[1] ?? null };
    },
    isClosed: () => isClosed,
    write(bytes) {
      const all = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
      let at = 0;
      const more = () => {
        while (at < all.length && !isClosed && received === '') {
          const fits = socket.write(all.subarray(at, at + CHUNK_BYTES));
          at += CHUNK_BYTES;
          if (!fits) {
            socket.once('drain', more);
            return;
          }
        }
      };
      more();
    },
    end: () => socket.destroy(),
  };
}

/** The head of a request whose body is so long. */
export function headOf(path: string, bytes: number, headers: readonly string[] = []): string {
  return [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${bytes}`,
    ...headers,
    '',
    '',
  ].join('\r\n');
}

/** Sends a text over each connection, a byte at a time and a pause after each. */
export async function writeSlowly(
  clients: readonly SlowClient[],
  text: string,
  pauseMs: number,
): Promise<void> {
  for (const byte of text) {
    for (const client of clients) client.write(byte);
    await delay(pauseMs);
  }
}
