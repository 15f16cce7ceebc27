import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FastLaneRig, REQUEST_ID } from '../../../test/fast-lane-rig.ts';
import { createTestPipeline } from '../../../test/http-pipelines.ts';
import type { OperationPlan } from '../pipeline/plan.ts';
import { jsonReply } from '../wire/replies.ts';

const MIB = 1024 * 1024;

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

describe('a body over the limit', () => {
  it('is rig.answered with 413', async () => {
    const reply = await rig.post('/i/v0/e/', 'x'.repeat(2 * MIB + 1));
    expect(reply.status).toBe(413);
    expect(await reply.text()).toContain('larger than 2097152 bytes');
    expect(rig.answered).toEqual([]);
    expect(rig.refused).toMatchObject([
      { id: 'captureEvent', refusal: { kind: 'too_large' }, requestId: REQUEST_ID },
    ]);
  });

  it('is rig.answered before it has come in completely', async () => {
    const client = httpRequest({ port: rig.port, path: '/flags', method: 'POST' });
    client.on('error', () => {});
    client.write(Buffer.alloc(2 * MIB + 1, ' '));
    const [reply] = await once(client, 'response');
    expect(reply.statusCode).toBe(413);
    client.destroy();
  });

  it('may be sent to its end, and the connection goes on', async () => {
    const socket = connect(rig.port, '127.0.0.1');
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
    expect(rig.answered).toHaveLength(1);
    socket.destroy();
  });

  it('is not waited for without end', async () => {
    await rig.close();
    rig = new FastLaneRig(plans, 50);
    await rig.listen();
    const socket = connect(rig.port, '127.0.0.1');
    socket.write(`POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: ${9 * MIB}\r\n\r\n`);
    socket.write(' '.repeat(2 * MIB + 1));
    socket.resume();
    await once(socket, 'close');
    expect(rig.answered).toEqual([]);
  });

  it.each(['HTTP/1.1\r\nConnection: close', 'HTTP/1.0'])(
    'is heard of by a client that sends all of it first, then ends: %j',
    async (version) => {
      await rig.close();
      rig = new FastLaneRig(plans, 500);
      await rig.listen();
      const socket = connect(rig.port, '127.0.0.1');
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
    expect((await rig.post('/flags', ' '.repeat(2 * MIB))).status).toBe(200);
    expect(rig.answered[0]?.request.payload).toHaveLength(2 * MIB);
  });
});

describe('an upload that is aborted', () => {
  it('is never rig.answered, and the next request is', async () => {
    const socket = connect(rig.port, '127.0.0.1');
    await once(socket, 'connect');
    const arrived = once(rig.server, 'request');
    socket.write('POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"half":');
    const [message] = await arrived;
    const aborted = new Promise((resolve) => message.once('close', resolve));
    socket.destroy();
    await aborted;
    expect(rig.answered).toEqual([]);
    expect((await rig.post('/flags')).status).toBe(200);
  });

  it('does not hurt when it happens while the answer is made', async () => {
    let finish = () => {};
    const started = new Promise<void>((resolve) => {
      rig.answer = () =>
        new Promise((done) => {
          finish = () => done(jsonReply(200, {}));
          resolve();
        });
    });
    const socket = connect(rig.port, '127.0.0.1');
    const arrived = once(rig.server, 'request');
    socket.write('POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    const [, response] = await arrived;
    await started;
    const closed = once(response, 'close');
    socket.destroy();
    await closed;
    finish();
    rig.answer = async () => jsonReply(200, {});
    expect((await rig.post('/flags')).status).toBe(200);
  });
});

describe('what there is no room for', () => {
  async function listenWith(maxRequests: number, maxBytes: number): Promise<void> {
    await rig.close();
    rig = new FastLaneRig(plans, 50, {
      maxRequests,
      maxBytes,
      addressRequestShare: 1,
      addressByteShare: 1,
    });
    await rig.listen();
  }

  it('is refused at once with 503 and when to come back, and counted', async () => {
    await listenWith(100, 1_000);
    const reply = await rig.post('/i/v0/e/', 'x'.repeat(1_001));
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1']);
    expect(rig.answered).toEqual([]);
    expect(rig.refused).toMatchObject([
      { id: 'captureEvent', refusal: { kind: 'unavailable', code: 'overloaded' } },
    ]);
    expect((await rig.post('/i/v0/e/', 'x'.repeat(1_000))).status).toBe(200);
  });

  it('is found out although the length was not announced', async () => {
    await listenWith(100, 1_000);
    const client = httpRequest({ port: rig.port, path: '/flags', method: 'POST' });
    client.on('error', () => {});
    client.write('x'.repeat(1_001));
    const [reply] = await once(client, 'response');
    expect(reply.statusCode).toBe(503);
    client.destroy();
    await expect.poll(async () => (await rig.post('/flags', 'x'.repeat(1_000))).status).toBe(200);
  });

  it('is free again when a request was answered, at once or later', async () => {
    await listenWith(1, 10);
    rig.answer = async () => jsonReply(200, {});
    expect((await rig.post('/flags', 'x'.repeat(10))).status).toBe(200);
    rig.answer = () => jsonReply(200, {});
    expect((await rig.post('/flags', 'x'.repeat(10))).status).toBe(200);
    expect((await rig.post('/flags', 'x'.repeat(10))).status).toBe(200);
  });

  it('is free again when the client went away while it sent, or waited', async () => {
    await listenWith(1, 10);
    const sending = connect(rig.port, '127.0.0.1');
    const arrived = once(rig.server, 'request');
    sending.write('POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf');
    await arrived;
    expect((await rig.post('/flags', '')).status).toBe(503);
    sending.destroy();
    await expect.poll(async () => (await rig.post('/flags', '')).status).toBe(200);
    rig.answer = () => new Promise(() => {});
    const waiting = connect(rig.port, '127.0.0.1');
    waiting.write('POST /flags HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
    await expect.poll(() => rig.answered.length).toBe(2);
    expect((await rig.post('/flags', '')).status).toBe(503);
    rig.answer = async () => jsonReply(200, {});
    waiting.destroy();
    await expect.poll(async () => (await rig.post('/flags', '')).status).toBe(200);
  });

  it('may be any number of bytes where they are not kept', async () => {
    await listenWith(1, 10);
    expect((await rig.post('/i/v1/logs', 'x'.repeat(100_000))).status).toBe(200);
  });
});
