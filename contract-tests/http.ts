import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** What a test sends. `body` goes as JSON, `raw` as it is. */
export interface RequestOptions {
  readonly body?: unknown;
  readonly raw?: string | Uint8Array;
  /** Sent as a bearer token; null sends none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
}

/** What came back. `body` is the parsed JSON of a JSON reply, else the text; null when empty. */
export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly text: string;
}

export type SendRequest = (
  method: string,
  path: string,
  options?: RequestOptions,
) => Promise<HttpReply>;

/** A client that sends what it is told and nothing else, unlike `fetch` with its own headers. */
export interface HttpClient {
  readonly send: SendRequest;
  close(): void;
}

const TIMEOUT_MS = 15_000;

/** A client of the server at this address, with connections of its own. */
export function createHttpClient(url: string): HttpClient {
  const agent = new Agent({ keepAlive: true });
  return {
    send: (method, path, options = {}) => send(agent, url, method, path, options),
    close: () => agent.destroy(),
  };
}

function send(
  agent: Agent,
  url: string,
  method: string,
  path: string,
  options: RequestOptions,
): Promise<HttpReply> {
  const payload = payloadOf(options);
  const search = searchOf(options.query ?? {});
  const mark = path.includes('?') ? '&' : '?';
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}${path}${search === '' ? '' : mark + search}`, {
      agent,
      method,
      headers: headersOf(options, payload),
      timeout: TIMEOUT_MS,
    });
    outgoing.on('error', reject);
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path}: no reply.`)));
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { statusCode = 0, headers } = incoming;
        resolve({ status: statusCode, headers, text, body: parseBody(headers, text) });
      });
    });
    outgoing.end(payload);
  });
}

function payloadOf({ body, raw }: RequestOptions): string | Uint8Array | undefined {
  if (raw !== undefined) return raw;
  return body === undefined ? undefined : JSON.stringify(body);
}

function headersOf(
  options: RequestOptions,
  payload: string | Uint8Array | undefined,
): Record<string, string | number> {
  const { key } = options;
  return {
    ...(payload === undefined ? {} : { 'content-length': Buffer.byteLength(payload) }),
    ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined || key === null ? {} : { authorization: `Bearer ${key}` }),
    ...options.headers,
  };
}

function searchOf(query: NonNullable<RequestOptions['query']>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  return search.toString();
}

function parseBody(headers: IncomingHttpHeaders, text: string): unknown {
  if (text === '') return null;
  return headers['content-type']?.startsWith('application/json') ? JSON.parse(text) : text;
}
