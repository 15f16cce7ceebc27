import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { Load } from './load.ts';

/** A process of our own load generator: sends what it is told to, and reports. */

export interface SentLoad {
  /** How long each reply took. */
  readonly timesMs: Float64Array;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

const END_OF_HEAD = '\r\n\r\n';
const NOT_MODIFIED = 304;

let file = '';
let requests: readonly Buffer[] = [];

process.on('message', (load: Load) => {
  send(load).then(
    (sent) => process.send?.(sent),
    (error: unknown) => process.send?.(String(error)),
  );
});

async function send(load: Load): Promise<SentLoad> {
  readRequests(load.requestsFile);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const until = startedAt + load.seconds * 1_000;
  const times: number[] = [];
  let position = load.offset;
  const next = (): Buffer | null => {
    position += 1;
    return performance.now() < until ? (requests[position % requests.length] ?? null) : null;
  };
  await Promise.all(Array.from({ length: load.connections }, () => keepSending(load, next, times)));
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    timesMs: Float64Array.from(times),
    seconds: (performance.now() - startedAt) / 1_000,
    cpuSeconds: (user + system) / 1_000_000,
  };
}

function readRequests(from: string): void {
  if (from === file) return;
  const texts = readFileSync(from, 'utf8').split('\0').slice(0, -1);
  requests = texts.map((text) => Buffer.from(text));
  file = from;
}

/** Sends on one connection, the next request after each reply, until there is no next one. */
function keepSending(load: Load, next: () => Buffer | null, times: number[]): Promise<void> {
  const { hostname, port } = new URL(load.url);
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const sendNext = () => {
      const request = next();
      sentAt = performance.now();
      if (request === null) socket.end(resolve);
      else socket.write(request);
    };
    socket.on('connect', sendNext).on('error', reject);
    socket.on('close', () => reject(new Error('The server closed a connection.')));
    readReplies(socket, (status) => {
      times.push(performance.now() - sentAt);
      if (status === load.status) sendNext();
      else reject(new Error(`A request was answered with ${status}.`));
    });
  });
}

/** Tells the status of each reply when its last byte is there; replies need a content-length. */
function readReplies(socket: Socket, onReply: (status: number) => void): void {
  let head = '';
  let status = 0;
  let missing = 0;
  socket.on('data', (chunk) => {
    if (missing > 0) {
      missing -= chunk.length;
    } else {
      head += chunk.toString('latin1');
      const end = head.indexOf(END_OF_HEAD);
      if (end === -1) return;
      status = Number(head.slice(9, 12));
      missing = end + END_OF_HEAD.length + bodyLength(head.slice(0, end), status) - head.length;
      head = '';
    }
    if (missing <= 0) onReply(status);
  });
}

function bodyLength(head: string, status: number): number {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined && status !== NOT_MODIFIED) {
    throw new Error('A reply has no content-length.');
  }
  return Number(length ?? 0);
}
