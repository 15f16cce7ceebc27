import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FastLaneRig, REQUEST_ID } from '../../../test/fast-lane-rig.ts';
import { createTestPipeline } from '../../../test/http-pipelines.ts';
import type { OperationPlan } from '../pipeline/plan.ts';
import { jsonReply } from '../wire/replies.ts';

let plans: readonly OperationPlan[];
let rig: FastLaneRig;

beforeAll(async () => {
  ({ plans } = await createTestPipeline());
});
beforeEach(async () => {
  rig = new FastLaneRig(plans);
  await rig.listen();
});
afterEach(() => rig.close());

describe('the fast lane', () => {
  it.each([
    ['/flags', 'evaluateFlags'],
    ['/flags/', 'evaluateFlags'],
    ['/flags?v=2', 'evaluateFlags'],
    ['/decide', 'evaluateFlags'],
    ['/i/v0/e', 'captureEvent'],
    ['/i/v0/e/', 'captureEvent'],
    ['/capture/', 'captureEvent'],
  ])('takes POST %s', async (path, id) => {
    expect((await rig.post(path)).status).toBe(200);
    expect(rig.answered.map(({ plan }) => plan.operation.id)).toEqual([id]);
  });

  it.each([
    ['POST', '/api/projects/1/feature_flags/'],
    ['POST', '/flags//'],
    ['POST', '/Flags'],
    ['POST', '/flags/definitions'],
    ['PUT', '/flags/definitions'],
    ['GET', '/api/projects/a%2Fb/feature_flags/local_evaluation'],
    ['GET', '/api/projects/a/b/feature_flags/local_evaluation'],
    ['GET', '/flags'],
    ['PUT', '/flags'],
  ])('leaves %s %s to others', async (method, path) => {
    const reply = await fetch(`http://127.0.0.1:${rig.port}${path}`, { method });
    expect(reply.status).toBe(299);
    expect(rig.answered).toEqual([]);
  });

  it.each([
    ['GET', '/flags/definitions', 'getFlagDefinitions', {}],
    ['HEAD', '/flags/definitions/?token=t', 'getFlagDefinitions', {}],
    [
      'GET',
      '/api/projects/@current/feature_flags/local_evaluation',
      'getLocalEvaluation',
      { project_id: '@current' },
    ],
    [
      'HEAD',
      '/api/projects/7/feature_flags/local_evaluation/',
      'getLocalEvaluation',
      { project_id: '7' },
    ],
  ])('takes %s %s', async (method, path, id, params) => {
    const reply = await fetch(`http://127.0.0.1:${rig.port}${path}`, { method });
    expect(reply.status).toBe(200);
    expect(rig.answered.map(({ plan }) => plan.operation.id)).toEqual([id]);
    expect(rig.answered[0]?.request).toMatchObject({ method, params });
  });

  it('leaves the connection usable after a GET with a body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const path of ['/flags/definitions', '/flags']) {
      const method = path === '/flags' ? 'POST' : 'GET';
      const client = httpRequest({
        port: rig.port,
        path,
        method,
        agent,
        headers: { 'content-length': 4 },
      });
      client.end('body');
      const [reply] = await once(client, 'response');
      reply.resume();
      await once(reply, 'end');
      expect(reply.statusCode).toBe(200);
    }
    agent.destroy();
  });

  it('sends an answer that is there at once', async () => {
    rig.answer = () => jsonReply(200, { at: 'once' });
    expect(await (await rig.post('/flags')).json()).toEqual({ at: 'once' });
  });

  it('gives up the connection when making the answer throws', async () => {
    rig.answer = () => {
      throw new Error('This never happens.');
    };
    await expect(rig.post('/flags')).rejects.toThrow();
  });

  it('hands the request on as it came, in pieces or not', async () => {
    const client = httpRequest({
      port: rig.port,
      path: '/flags/?v=2&ip=0',
      method: 'POST',
      headers: { host: 'flags.example.com', 'transfer-encoding': 'chunked', 'x-own': '1' },
    });
    client.write('{"a":');
    client.end('1}');
    await once(client, 'response');
    expect(rig.answered[0]?.request).toMatchObject({
      method: 'POST',
      path: '/flags/',
      params: {},
      query: { v: '2', ip: '0' },
      baseUrl: 'http://flags.example.com',
      requestId: REQUEST_ID,
      headers: { 'x-own': '1' },
    });
    expect(rig.answered[0]?.request.payload.toString()).toBe('{"a":1}');
  });

  it('puts a body together that comes in very many pieces', async () => {
    const body = Array.from({ length: 20_000 }, (_, index) =>
      String.fromCharCode(97 + (index % 26)),
    );
    const socket = connect(rig.port, '127.0.0.1');
    socket.write('POST /flags HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write(`${body.map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    expect(rig.answered[0]?.request.payload.toString()).toBe(body.join(''));
  });

  it('answers requests that are sent before the answers are read, in their order', async () => {
    rig.answer = async (_plan, request) => jsonReply(200, { said: request.payload.toString() });
    const socket = connect(rig.port, '127.0.0.1');
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
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(
      'POST /flags HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n',
    );
    const [first] = await once(socket, 'data');
    expect(String(first)).toMatch(/^HTTP\/1\.1 100 Continue/);
    socket.write('{}');
    const [second] = await once(socket, 'data');
    socket.destroy();
    expect(String(second)).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(rig.answered[0]?.request.payload.toString()).toBe('{}');
  });

  it('sends status, headers and body of the answer', async () => {
    rig.answer = async () => jsonReply(503, { tell: 'ü' }, { 'retry-after': '1' });
    const reply = await rig.post('/flags');
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(reply.headers.get('content-length')).toBe('13');
    expect(await reply.json()).toEqual({ tell: 'ü' });
  });

  it('sends an answer without a body', async () => {
    rig.answer = async () => ({ status: 204, headers: {}, body: null });
    const reply = await rig.post('/i/v0/e/');
    expect(reply.status).toBe(204);
    expect(await reply.text()).toBe('');
  });

  it('gives up the connection when there is no answer at all', async () => {
    rig.answer = () => Promise.reject(new Error('This never happens.'));
    await expect(rig.post('/flags')).rejects.toThrow();
  });
});
