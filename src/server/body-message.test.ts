import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BodyMessage } from './body-message.ts';

/** Answers with how many pieces a body came in and what they are together. */
const server = createServer({ IncomingMessage: BodyMessage }, (message, response) => {
  const pieces: Buffer[] = [];
  message.on('data', (piece: Buffer) => pieces.push(piece));
  message.on('end', () => {
    const body = Buffer.concat(pieces).toString();
    response.end(JSON.stringify({ pieces: pieces.length, body }));
  });
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}

async function send(pieces: readonly string[]): Promise<{ pieces: number; body: string }> {
  const address = server.address();
  if (!isAddress(address)) throw new Error('The server has no port.');
  const outgoing = request({ port: address.port, method: 'POST' });
  const answered = once(outgoing, 'response');
  outgoing.on('socket', (socket) => socket.setNoDelay(true));
  for (const piece of pieces) outgoing.write(piece);
  outgoing.end();
  const [reply] = await answered;
  let text = '';
  for await (const piece of reply) text += String(piece);
  return JSON.parse(text);
}

describe('a body that is read as a stream', () => {
  it('comes in few pieces, whole and in order, however it was cut up', async () => {
    const bytes = Array.from({ length: 100_000 }, (_, index) => String(index % 10));
    const read = await send(bytes);
    expect(read.body).toBe(bytes.join(''));
    expect(read.pieces).toBeLessThanOrEqual(2);
  });

  it('keeps its order when small and large pieces take turns', async () => {
    const large = 'x'.repeat(5_000);
    const pieces = ['a', large, 'b', 'c', large, large, 'd'];
    expect((await send(pieces)).body).toBe(pieces.join(''));
  });

  it('may be empty', async () => {
    expect(await send([])).toEqual({ pieces: 0, body: '' });
  });
});
