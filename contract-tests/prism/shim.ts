import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Contract, Operation } from '../contract.ts';

/** A server in front of Prism. */
export interface Shim {
  readonly url: string;
  stop(): Promise<void>;
}

export interface ShimOptions {
  readonly contract: Contract;
  /** Where Prism listens. */
  readonly upstream: string;
  /** 0 takes any free port. */
  readonly port: number;
}

const MAX_BYTES = 20_971_520;

/**
 * Starts a server that makes of what SDKs send what Prism understands: the path as the contract
 * spells it, aliases and missing slashes included, and the body as plain JSON.
 */
export async function startShim({ contract, upstream, port }: ShimOptions): Promise<Shim> {
  const server = createServer((incoming, outgoing) => {
    passOn(contract, upstream, incoming, outgoing).catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      if (!outgoing.headersSent) outgoing.writeHead(502, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ type: 'server_error', code: 'error', detail, attr: null }));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was bound.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function passOn(
  contract: Contract,
  upstream: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/' } = incoming;
  const payload = await readAll(incoming);
  const operation = contract.operationOf(method === 'HEAD' ? 'GET' : method, url);
  const path = operation === undefined ? url : spell(operation, url);
  const { headers, body } = unpack(operation, incoming.headers, payload);
  const forwarded = request(`${upstream}${path}`, { method, headers });
  forwarded.end(body);
  const [reply]: IncomingMessage[] = await once(forwarded, 'response');
  if (reply === undefined) throw new Error('Prism did not answer.');
  outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
  outgoing.end(await readAll(reply));
}

/** The path as the operation spells it, and a parameter without a value as `true`. */
function spell(operation: Operation, url: string): string {
  const [path = '', search = ''] = url.split('?');
  const steps = path.split('/');
  const spelled = operation.path
    .split('/')
    .map((step, index) => (step.startsWith('{') ? (steps[index] ?? step) : step))
    .join('/');
  const query = search
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => (pair.includes('=') ? pair : `${pair}=true`))
    .join('&');
  return query === '' ? spelled : `${spelled}?${query}`;
}

/** The body as plain JSON where it can be read, else as it came. */
function unpack(operation: Operation | undefined, headers: IncomingHttpHeaders, payload: Buffer) {
  const { 'content-encoding': encoding, 'content-length': _length, ...kept } = headers;
  if (payload.length === 0) return { headers: kept, body: payload };
  const body = decode(operation, encoding, payload);
  const isChanged = body !== payload;
  return {
    headers: {
      ...kept,
      ...(isChanged ? { 'content-type': 'application/json' } : {}),
      ...(isChanged || encoding === undefined ? {} : { 'content-encoding': encoding }),
      'content-length': String(body.length),
    },
    body,
  };
}

function decode(
  operation: Operation | undefined,
  encoding: string | undefined,
  payload: Buffer,
): Buffer {
  // What is no JSON by contract stays as it is.
  if (operation?.rawExample) return payload;
  try {
    const isIngest = operation?.path.startsWith('/api/') === false;
    const isGzip = encoding === 'gzip' || (isIngest && payload[0] === 0x1f && payload[1] === 0x8b);
    const plain = isGzip ? gunzipSync(payload, { maxOutputLength: MAX_BYTES }) : payload;
    if (!isIngest) return plain;
    const text = plain.toString('utf8');
    const sent = /^data=|&data=/.test(text) ? (new URLSearchParams(text).get('data') ?? '') : text;
    const json = /^\s*[[{]/.test(sent) ? sent : Buffer.from(sent, 'base64').toString('utf8');
    return Buffer.from(JSON.stringify(JSON.parse(json)));
  } catch {
    // Prism says what is wrong with it.
    return payload;
  }
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
