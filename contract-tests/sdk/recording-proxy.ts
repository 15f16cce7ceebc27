import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { gunzipSync } from 'node:zlib';

/** A request that passed, and its reply. */
export interface RecordedRequest {
  readonly method: string;
  /** With the query, as the client sent it. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly status: number;
  readonly isGzipped: boolean;
  /** The parsed JSON of the body, unpacked; undefined when it is not JSON. */
  json(): unknown;
  /** The parsed JSON of the reply, unpacked; undefined when it is not JSON. */
  replyJson(): unknown;
}

/** A server that passes everything on unchanged and remembers it. */
export interface RecordingProxy {
  readonly url: string;
  /** What was answered so far, in the order of the replies. */
  requests(): readonly RecordedRequest[];
  /** Resolves when everything that has come in so far is answered and remembered. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port in front of the server at this address. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const recorded: RecordedRequest[] = [];
  const pending = new Set<Promise<void>>();
  const server = createServer((incoming, outgoing) => {
    const passed = passOn(target, incoming, outgoing)
      .then(
        (one) => void recorded.push(one),
        (error: unknown) => void outgoing.destroy(error instanceof Error ? error : undefined),
      )
      .finally(() => pending.delete(passed));
    pending.add(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was bound.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: () => recorded,
    async settled() {
      await Promise.all(pending);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The reply is recorded before the client has it, so a client that got it finds it recorded. */
async function passOn(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<RecordedRequest> {
  const { method = 'GET', url: path = '/', headers } = incoming;
  const body = await readAll(incoming);
  const forwarded = request(`${target}${path}`, { method, headers });
  forwarded.end(body);
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    forwarded.on('response', resolve).on('error', reject);
  });
  const replyBody = await readAll(reply);
  const status = reply.statusCode ?? 0;
  setImmediate(() => outgoing.writeHead(status, reply.rawHeaders).end(replyBody));
  return {
    ...{ method, path, headers, body, status, isGzipped: isGzip(body) },
    json: () => parse(body),
    replyJson: () => parse(replyBody),
  };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function parse(bytes: Buffer): unknown {
  const plain = isGzip(bytes) ? gunzipSync(bytes) : bytes;
  try {
    return JSON.parse(plain.toString('utf8'));
  } catch {
    return undefined;
  }
}
