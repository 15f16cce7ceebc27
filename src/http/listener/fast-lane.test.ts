import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OperationId } from '../../operations/operation.ts';
import { type ContractOperation, readOperation } from '../contract/contract-document.ts';
import { jsonReply } from '../pipeline/error-reply.ts';
import type { WireRequest } from '../wire/wire.ts';
import { BodyMessage } from './body-message.ts';
import { type AnswerCompletely, createHotPath, type RecordRefusal } from './fast-lane.ts';

const MIB = 1024 * 1024;
const REQUEST_ID = '0192f0c1-7c40-7c7e-8f5a-2f6f1f0a9b3c';

function anOperation(id: OperationId, path: string, tag: string): ContractOperation {
  const aliases = { 'x-alias-paths': [`${path.replace(/\/$/, '')}/alias`] };
  return readOperation({ path, method: 'post', tags: [tag], ...aliases, responses: {} }, id);
}

const OPERATIONS = [
  readOperation(
    { path: '/flags/definitions', method: 'get', tags: ['definitions'], responses: {} },
    'getFlagDefinitions',
  ),
  readOperation(
    { path: '/projects/{id}/definitions/', method: 'get', tags: ['definitions'], responses: {} },
    'getLocalEvaluation',
  ),
  anOperation('evaluateFlags', '/flags', 'evaluation'),
  anOperation('captureEvent', '/i/v0/e/', 'capture'),
  anOperation('createFeatureFlag', '/api/things/', 'feature_flags'),
];

/** How long the rest of a refused body is waited for: longer than any test takes to send it. */
const LINGER_MS = 50_000;

let server: Server;
let port = 0;
let answered: { operation: ContractOperation; request: WireRequest }[] = [];
let refused: Parameters<RecordRefusal>[] = [];
let answer: AnswerCompletely;

beforeEach(async () => {
  answered = [];
  answer = async () => jsonReply(200, { fine: true });
  refused = [];
  await listen(LINGER_MS);
});

async function listen(lingerMs: number): Promise<void> {
  const hotPath = createHotPath(
    OPERATIONS,
    (operation, request) => {
      answered.push({ operation, request });
      return answer(operation, request);
    },
    (...refusal) => refused.push(refusal),
    lingerMs,
  );
  server = createServer({ IncomingMessage: BodyMessage }, (message, response) => {
    const envelope = { requestId: REQUEST_ID, origin: message.headers.origin, isLast: false };
    if (!hotPath(message, response, envelope)) response.writeHead(299).end('passed on');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
}

async function close(): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

afterEach(close);

const post = (path: string, body = '{}', headers = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body, headers });

describe('the hot path', () => {
  it.each([
    ['/flags', 'evaluateFlags'],
    ['/flags/', 'evaluateFlags'],
    ['/flags?v=2', 'evaluateFlags'],
    ['/flags/alias', 'evaluateFlags'],
    ['/i/v0/e', 'captureEvent'],
    ['/i/v0/e/', 'captureEvent'],
    ['/i/v0/e/alias/', 'captureEvent'],
  ])('takes POST %s', async (path, id) => {
    expect((await post(path)).status).toBe(200);
    expect(answered.map(({ operation }) => operation.id)).toEqual([id]);
  });

  it.each([
    ['POST', '/api/things/'],
    ['POST', '/flags//'],
    ['POST', '/Flags'],
    ['POST', '/flags/definitions'],
    ['PUT', '/flags/definitions'],
    ['GET', '/projects/a%2Fb/definitions'],
    ['GET', '/projects/a/b/definitions'],
    ['GET', '/flags'],
    ['PUT', '/flags'],
  ])('leaves %s %s to others', async (method, path) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    expect(reply.status).toBe(299);
    expect(answered).toEqual([]);
  });

  it.each([
    ['GET', '/flags/definitions', 'getFlagDefinitions', {}],
    ['HEAD', '/flags/definitions/?token=t', 'getFlagDefinitions', {}],
    ['GET', '/projects/@current/definitions', 'getLocalEvaluation', { id: '@current' }],
    ['HEAD', '/projects/7/definitions/', 'getLocalEvaluation', { id: '7' }],
  ])('takes %s %s', async (method, path, id, params) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    expect(reply.status).toBe(200);
    expect(answered.map(({ operation }) => operation.id)).toEqual([id]);
    expect(answered[0]?.request).toMatchObject({ method, params });
  });

  it('leaves the connection usable after a GET with a body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const path of ['/flags/definitions', '/flags']) {
      const method = path === '/flags' ? 'POST' : 'GET';
      const client = httpRequest({ port, path, method, agent, headers: { 'content-length': 4 } });
      client.end('body');
      const [reply] = await once(client, 'response');
      reply.resume();
      await once(reply, 'end');
      expect(reply.statusCode).toBe(200);
    }
    agent.destroy();
  });

  it('sends an answer that is there at once', async () => {
    answer = () => jsonReply(200, { at: 'once' });
    expect(await (await post('/flags')).json()).toEqual({ at: 'once' });
  });

  it('gives up the connection when making the answer throws', async () => {
    answer = () => {
      throw new Error('This never happens.');
    };
    await expect(post('/flags')).rejects.toThrow();
  });

  it('hands the request on as it came, in pieces or not', async () => {
    const client = httpRequest({
      port,
      path: '/flags/?v=2&ip=0',
      method: 'POST',
      headers: { host: 'flags.example.com', 'transfer-encoding': 'chunked', 'x-own': '1' },
    });
    client.write('{"a":');
    client.end('1}');
    await once(client, 'response');
    expect(answered[0]?.request).toMatchObject({
      method: 'POST',
      path: '/flags/',
      params: {},
      query: { v: '2', ip: '0' },
      baseUrl: 'http://flags.example.com',
      requestId: REQUEST_ID,
      headers: { 'x-own': '1' },
    });
    expect(answered[0]?.request.payload.toString()).toBe('{"a":1}');
  });

  it('puts a body together that comes in very many pieces', async () => {
    const body = Array.from({ length: 20_000 }, (_, index) =>
      String.fromCharCode(97 + (index % 26)),
    );
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /flags HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write(`${body.map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    expect(answered[0]?.request.payload.toString()).toBe(body.join(''));
  });

  it('answers requests that are sent before the answers are read, in their order', async () => {
    answer = async (_operation, request) => jsonReply(200, { said: request.payload.toString() });
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    const request = (body: string) =>
      `POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(request('one') + request('two') + request('three'));
    await expect.poll(() => heard.match(/"said":"\w+"/g)).toHaveLength(3);
    socket.destroy();
    expect(heard.match(/(?<="said":")\w+/g)).toEqual(['one', 'two', 'three']);
  });

  it('takes a body that waits for its 100 Continue', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'POST /flags HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    );
    const [first] = await once(socket, 'data');
    expect(String(first)).toMatch(/^HTTP\/1\.1 100 Continue/);
    socket.write('{}');
    const [second] = await once(socket, 'data');
    socket.destroy();
    expect(String(second)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answered[0]?.request.payload.toString()).toBe('{}');
  });

  it('sends status, headers and body of the answer', async () => {
    answer = async () => jsonReply(503, { tell: 'ü' }, { 'retry-after': '1' });
    const reply = await post('/flags');
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(reply.headers.get('content-length')).toBe('13');
    expect(await reply.json()).toEqual({ tell: 'ü' });
  });

  it('sends an answer without a body', async () => {
    answer = async () => ({ status: 204, headers: {}, body: null });
    const reply = await post('/i/v0/e/');
    expect(reply.status).toBe(204);
    expect(await reply.text()).toBe('');
  });

  it('gives up the connection when there is no answer at all', async () => {
    answer = () => Promise.reject(new Error('This never happens.'));
    await expect(post('/flags')).rejects.toThrow();
  });
});

describe('a body over the limit', () => {
  it('is answered with 413', async () => {
    const reply = await post('/i/v0/e/', 'x'.repeat(2 * MIB + 1));
    expect(reply.status).toBe(413);
    expect(await reply.text()).toContain('larger than 2097152 bytes');
    expect(answered).toEqual([]);
    expect(refused).toEqual([['captureEvent', 413, REQUEST_ID]]);
  });

  it('is answered before it has come in completely', async () => {
    const client = httpRequest({ port, path: '/flags', method: 'POST' });
    client.on('error', () => {});
    client.write(Buffer.alloc(2 * MIB + 1, ' '));
    const [reply] = await once(client, 'response');
    expect(reply.statusCode).toBe(413);
    client.destroy();
  });

  it('may be sent to its end, and the connection goes on', async () => {
    const socket = connect(port, '127.0.0.1');
    let heard = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    const hear = async (text: string) => {
      while (!heard.includes(text)) await once(socket, 'data');
    };
    socket.write(`POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: ${3 * MIB}\r\n\r\n`);
    socket.write(' '.repeat(2 * MIB + 1));
    await hear('HTTP/1.1 413 ');
    socket.write(' '.repeat(MIB - 1));
    socket.write('POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    await hear('HTTP/1.1 200 ');
    expect(answered).toHaveLength(1);
    socket.destroy();
  });

  it('is not waited for without end', async () => {
    await close();
    await listen(50);
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: ${9 * MIB}\r\n\r\n`);
    socket.write(' '.repeat(2 * MIB + 1));
    socket.resume();
    await once(socket, 'close');
    expect(answered).toEqual([]);
  });

  it.each(['HTTP/1.1\r\nConnection: close', 'HTTP/1.0'])(
    'is heard of by a client that sends all of it first, then ends: %j',
    async (version) => {
      await close();
      await listen(500);
      const socket = connect(port, '127.0.0.1');
      socket.write(`POST /flags ${version}\r\nHost: x\r\nContent-Length: ${9 * MIB}\r\n\r\n`);
      // Nothing is read before all of it is sent.
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.write(' '.repeat(9 * MIB), () => resolve());
      });
      let heard = '';
      for await (const text of socket) heard += String(text);
      expect(heard).toContain('413');
      expect(heard).toContain('larger than 2097152 bytes');
    },
  );

  it('is taken when it is as large as the limit', async () => {
    expect((await post('/flags', ' '.repeat(2 * MIB))).status).toBe(200);
    expect(answered[0]?.request.payload).toHaveLength(2 * MIB);
  });
});

describe('an upload that is aborted', () => {
  it('is never answered, and the next request is', async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const arrived = once(server, 'request');
    socket.write('POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"half":');
    const [message] = await arrived;
    const aborted = new Promise((resolve) => message.once('close', resolve));
    socket.destroy();
    await aborted;
    expect(answered).toEqual([]);
    expect((await post('/flags')).status).toBe(200);
  });

  it('does not hurt when it happens while the answer is made', async () => {
    let finish = () => {};
    const started = new Promise<void>((resolve) => {
      answer = () =>
        new Promise((done) => {
          finish = () => done(jsonReply(200, {}));
          resolve();
        });
    });
    const socket = connect(port, '127.0.0.1');
    const arrived = once(server, 'request');
    socket.write('POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    const [, response] = await arrived;
    await started;
    const closed = once(response, 'close');
    socket.destroy();
    await closed;
    finish();
    answer = async () => jsonReply(200, {});
    expect((await post('/flags')).status).toBe(200);
  });
});
