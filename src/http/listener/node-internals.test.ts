import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BodyMessage, TAKES_FROM_PARSER } from './node-internals.ts';

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

describe('a body that is taken', () => {
  it('comes from the parser in every version of Node that Burgee runs on', () => {
    expect(TAKES_FROM_PARSER).toBe(true);
  });

  it.each([
    ['after its end, from the parser', false, true],
    ['before it has come, from the parser', true, true],
    ['after its end, from the stream', false, false],
    ['before it has come, from the stream', true, false],
  ])(
    'leaves the connection to the next request when the reply goes out %s',
    async (_when, isEarly, isFromParser) => {
      const taken: number[] = [];
      const taking = createServer({ IncomingMessage: BodyMessage }, (message, response) => {
        let bytes = 0;
        if (isEarly) response.end('early');
        message.takeBody((piece) => {
          bytes += piece?.length ?? 0;
          if (piece !== null) return;
          taken.push(bytes);
          if (!isEarly) response.end('late');
        }, isFromParser);
      });
      taking.listen(0, '127.0.0.1');
      await once(taking, 'listening');
      const address = taking.address();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const sockets = new Set<unknown>();
      const sizes = [0, 5, 1_000_000, 3, 0];
      for (const size of sizes) {
        const port = isAddress(address) ? address.port : 0;
        const outgoing = request({ port, agent, method: 'POST' });
        outgoing.on('socket', (socket) => sockets.add(socket));
        const answered = once(outgoing, 'response');
        outgoing.end('x'.repeat(size));
        const [reply] = await answered;
        for await (const piece of reply) expect(String(piece)).toBe(isEarly ? 'early' : 'late');
      }
      agent.destroy();
      taking.close();
      await once(taking, 'close');
      expect(taken).toEqual(sizes);
      expect(sockets.size).toBe(1);
    },
  );
});
