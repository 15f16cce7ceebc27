import { once } from 'node:events';
import {
  Agent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Application, createListener, type Listener } from './listener.ts';
import { envelopeHeaders } from './write-reply.ts';

const GRACE_MS = 10_000;

let listener: Listener;
let url = '';

beforeEach(async () => {
  listener = createListener();
  url = `http://127.0.0.1:${await listener.listen(0, '127.0.0.1')}`;
});
afterEach(() => listener.close(0));

/** An application that answers everything at once, unless told otherwise. */
function anApplication(overrides: Partial<Application> = {}): Application {
  return {
    fastLane: () => false,
    forwardToHapi: (_message, response) => {
      response.writeHead(200).end('from the application');
    },
    methodsOf: () => [],
    isReady: () => true,
    ...overrides,
  };
}

/** An application that keeps a request waiting until it is told to answer. */
function aSlowApplication() {
  let tellArrival: (response: ServerResponse) => void = () => {};
  const arrived = new Promise<ServerResponse>((resolve) => {
    tellArrival = resolve;
  });
  const application = anApplication({
    forwardToHapi: (_message, response) => tellArrival(response),
  });
  return { application, arrived };
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of message.setEncoding('utf8')) text += chunk;
  return text;
}

describe('before there is an application', () => {
  it('is alive, and not ready', async () => {
    const alive = await fetch(`${url}/_liveness`);
    expect([alive.status, await alive.json()]).toEqual([200, { status: 'alive' }]);
    const ready = await fetch(`${url}/_readiness/?probe=1`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'starting' }]);
  });

  it('answers everything else with 503 and when to come back', async () => {
    const reply = await fetch(`${url}/flags`, { method: 'POST', body: '{}' });
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(await reply.json()).toMatchObject({
      code: 'service_unavailable',
      detail: 'Burgee is starting. Please try again shortly.',
    });
  });
});

describe('with an application', () => {
  it('is ready as soon as the application is', async () => {
    let isReady = false;
    listener.open(anApplication({ isReady: () => isReady }));
    expect((await fetch(`${url}/_readiness`)).status).toBe(503);
    isReady = true;
    const ready = await fetch(`${url}/_readiness`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
  });

  it('answers a health check by HEAD without a body', async () => {
    listener.open(anApplication());
    const reply = await fetch(`${url}/_readiness`, { method: 'HEAD' });
    expect([reply.status, await reply.text()]).toEqual([200, '']);
  });

  it('leaves other methods on the health checks to the application', async () => {
    listener.open(anApplication());
    const reply = await fetch(`${url}/_liveness`, { method: 'POST' });
    expect(await reply.text()).toBe('from the application');
  });

  it('offers each request to the fast lane first', async () => {
    listener.open(
      anApplication({
        fastLane: (message, response, envelope) => {
          if (message.url !== '/flags') return false;
          response.writeHead(200, envelopeHeaders(envelope)).end(envelope.requestId);
          return true;
        },
      }),
    );
    const fast = await fetch(`${url}/flags`);
    expect(await fast.text()).toBe(fast.headers.get('x-request-id'));
    expect(await (await fetch(`${url}/api`)).text()).toBe('from the application');
  });

  it('gives both lanes the same id for a request, and tells it to the client', async () => {
    let heard: unknown;
    listener.open(
      anApplication({
        forwardToHapi: (message, response) => {
          heard = message.headers['x-request-id'];
          response.end();
        },
      }),
    );
    const reply = await fetch(`${url}/api`, { headers: { 'x-request-id': 'not a uuid' } });
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(heard).toBe(reply.headers.get('x-request-id'));
  });
});

describe('a browser', () => {
  it('may read every reply, refusals included', async () => {
    const reply = await fetch(`${url}/flags`, { headers: { origin: 'https://shop.example.com' } });
    expect(reply.status).toBe(503);
    expect(reply.headers.get('access-control-allow-origin')).toBe('https://shop.example.com');
  });

  it('has no origin as long as a book, which is not repeated', async () => {
    const origin = `https://${'a'.repeat(10_000)}.example.com`;
    const reply = await fetch(`${url}/flags`, { headers: { origin } });
    expect(reply.status).toBe(503);
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('gets its preflight answered even before the application is there', async () => {
    const reply = await fetch(`${url}/flags`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(reply.status).toBe(204);
    expect(reply.headers.get('access-control-allow-methods')).toContain('POST');
    expect(reply.headers.get('access-control-allow-headers')).toBe('content-type');
  });
});

describe('a question for the methods of a path', () => {
  beforeEach(() => {
    const methodsOf = (path: string) => (path === '/things' ? ['GET', 'HEAD', 'OPTIONS'] : []);
    listener.open(anApplication({ methodsOf }));
  });

  it.each([
    ['/things', 'GET, HEAD, OPTIONS'],
    ['/things?of=mine', 'GET, HEAD, OPTIONS'],
    ['/_readiness', 'GET, HEAD, OPTIONS'],
    ['/nothing', 'OPTIONS'],
  ])('is answered with those that there are: %s', async (path, allow) => {
    const reply = await fetch(url + path, { method: 'OPTIONS' });
    expect([reply.status, reply.headers.get('allow')]).toEqual([204, allow]);
    expect(reply.headers.has('access-control-allow-methods')).toBe(false);
  });

  it.each(['/things', '/nothing'])(
    'lets a browser try any, to read the refusal: %s',
    async (path) => {
      const headers = { origin: 'https://shop.example', 'access-control-request-method': 'PUT' };
      const reply = await fetch(url + path, { method: 'OPTIONS', headers });
      expect(reply.headers.get('access-control-allow-methods')).toContain('PUT');
    },
  );
});

describe('an address that is taken', () => {
  it('is refused at once', async () => {
    const second = createListener();
    await expect(second.listen(Number(new URL(url).port), '127.0.0.1')).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await second.close(0);
  });
});

describe('a stop', () => {
  it('waits for the requests that are under way', async () => {
    const { application, arrived } = aSlowApplication();
    listener.open(application);
    const reply = fetch(`${url}/slow`);
    const response = await arrived;
    let isClosed = false;
    const closed = listener.close(GRACE_MS).then(() => {
      isClosed = true;
    });
    await expect(fetch(`${url}/another`)).rejects.toThrow();
    expect(isClosed).toBe(false);
    response.end('finished');
    expect(await (await reply).text()).toBe('finished');
    await closed;
  });

  it('does not wait for a client that keeps its connection after the reply', async () => {
    const { application, arrived } = aSlowApplication();
    listener.open(application);
    const agent = new Agent({ keepAlive: true });
    const client = httpRequest(`${url}/slow`, { agent });
    const responded = once(client.end(), 'response');
    const response = await arrived;
    const closed = listener.close(GRACE_MS);
    const startedAt = Date.now();
    response.end('finished');
    const [message] = await responded;
    expect(await textOf(message)).toBe('finished');
    await closed;
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    agent.destroy();
  });

  it('cuts off the requests that take longer than the grace', async () => {
    const { application, arrived } = aSlowApplication();
    listener.open(application);
    const reply = fetch(`${url}/slow`);
    await arrived;
    await Promise.all([listener.close(1), expect(reply).rejects.toThrow()]);
  });

  it('is done at once when nothing listens', async () => {
    await expect(createListener().close(GRACE_MS)).resolves.toBeUndefined();
  });
});
