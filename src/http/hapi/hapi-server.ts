import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import Hapi from '@hapi/hapi';
import { Refusal } from '../../domain/common/refusal.ts';
import type { Contract } from '../contract/contract.ts';
import type { ContractDocument, ContractOperation } from '../contract/contract-document.ts';
import { createRouteTable } from '../contract/route-table.ts';
import { BodyTooLargeError } from '../decode/body-parts.ts';
import { MANAGEMENT_MAX_BYTES, toTooLarge } from '../decode/decode-management-body.ts';
import type { AnswerCompletely, RecordRefusal } from '../listener/fast-lane.ts';
import { baseUrlOf, parseQuery, requestIdOf, splitTarget } from '../listener/request-target.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type ErrorStyle, jsonReply, toErrorReply } from '../pipeline/error-reply.ts';
import { ingestLimitsOf } from '../pipeline/ingest.ts';
import type { WireReply } from '../pipeline/wire.ts';
import { addReferencePage } from './reference-page.ts';

export interface HapiOptions {
  readonly contract: Contract;
  readonly document: ContractDocument;
  readonly metrics: Metrics;
  readonly answer: AnswerCompletely;
  readonly recordRefusal: RecordRefusal;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** How long a client may take to send its body. */
const PAYLOAD_TIMEOUT_MS = 15_000;

/** A body that nobody reads has no limit; its length must not hide that the method is wrong. */
const UNREAD_MAX_BYTES = Number.MAX_SAFE_INTEGER;

declare module '@hapi/hapi' {
  interface RouteOptionsApp {
    readonly errorStyle?: ErrorStyle;
    readonly operationId?: string;
  }
}

/**
 * Hapi with one route for each path and operation of the contract, a 405 for every other method of
 * those paths, and the routes of those who run the service. It does not listen: the front does, and
 * hands requests over.
 */
export async function createHapi(options: HapiOptions): Promise<Hapi.Server> {
  const server = Hapi.server({
    listener: createHttpServer(),
    autoListen: false,
    debug: false,
    // The front closes the connections; Hapi, which never listens, knows of none and would throw.
    operations: { cleanStop: false },
    router: { stripTrailingSlash: true },
    routes: { state: { parse: false, failAction: 'ignore' } },
  });
  for (const operation of options.contract.operations) addOperation(server, operation, options);
  addRefusedMethods(server, options.contract.operations);
  addServiceRoutes(server, options);
  addReferencePage(server);
  server.ext('onPreResponse', (request, h) => {
    const { response } = request;
    if (!('isBoom' in response)) {
      response.vary('origin');
      return h.continue;
    }
    const { errorStyle: style = 'management', operationId } = request.route.settings.app ?? {};
    const error = toRefusal(response.output.statusCode, request.path, response);
    const reply = toErrorReply(error, style);
    if (operationId !== undefined) {
      options.recordRefusal(operationId, reply.status, requestIdOf(request.raw.req));
    }
    return send(h, reply);
  });
  // Started, but not listening: before its start Hapi closes every connection after one reply.
  await server.start();
  return server;
}

/** The function by which Hapi takes a request from a listener. */
export function requestListenerOf(server: Hapi.Server): (...args: unknown[]) => void {
  const listener: Pick<HttpServer, 'listeners'> = server.listener;
  const [listen] = listener.listeners('request');
  if (listen === undefined) throw new Error('Hapi has no request listener.');
  return (...args) => {
    Reflect.apply(listen, server.listener, args);
  };
}

function addOperation(server: Hapi.Server, operation: ContractOperation, options: HapiOptions) {
  const maxBytes = ingestLimitsOf(operation)?.rawMaxBytes ?? MANAGEMENT_MAX_BYTES;
  for (const path of operation.paths) {
    server.route({
      method: operation.method === 'GET' ? 'GET' : toMethod(operation.method),
      path,
      options: {
        app: { errorStyle: operation.errorStyle, operationId: operation.id },
        ...(operation.method === 'GET'
          ? {}
          : {
              payload: {
                parse: false,
                output: 'data',
                // One byte over the limit is let through, so that the pipeline words the refusal.
                maxBytes: maxBytes + 1,
                timeout: PAYLOAD_TIMEOUT_MS,
              },
            }),
      },
      handler: async (request, h) => {
        const target = splitTarget(request.raw.req.url ?? '/');
        return send(
          h,
          await options.answer(operation, {
            method: request.method.toUpperCase(),
            path: target.path,
            params: textParams(request.params),
            query: parseQuery(target.search),
            headers: request.raw.req.headers,
            payload: Buffer.isBuffer(request.payload) ? request.payload : Buffer.alloc(0),
            baseUrl: baseUrlOf(request.raw.req),
            requestId: requestIdOf(request.raw.req),
            receivedAt: new Date(request.info.received),
          }),
        );
      },
    });
  }
}

function textParams(params: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}

function toMethod(method: string): Hapi.RouteDefMethods {
  const known = METHODS.find((candidate) => candidate === method);
  if (known === undefined) throw new Error(`The contract uses the unknown method ${method}.`);
  return known;
}

/** Registered by name: a wildcard route would win over the literal paths beside `/{id}`. */
function addRefusedMethods(server: Hapi.Server, operations: readonly ContractOperation[]): void {
  const operationsByPath = new Map<string, ContractOperation[]>();
  for (const operation of operations) {
    for (const path of operation.paths) {
      operationsByPath.set(path, [...(operationsByPath.get(path) ?? []), operation]);
    }
  }
  for (const [path, declared] of operationsByPath) {
    const allow = allowHeader(declared);
    const methods = new Set(declared.map(({ method }) => method));
    for (const method of METHODS.filter((candidate) => !methods.has(candidate))) {
      server.route({
        method,
        path,
        options:
          method === 'GET'
            ? {}
            : { payload: { parse: false, output: 'stream', maxBytes: UNREAD_MAX_BYTES } },
        handler: (_request, h) =>
          send(
            h,
            toErrorReply(
              new Refusal('method_not_allowed', `Method "${method}" not allowed.`),
              'management',
            ),
          ).header('allow', allow),
      });
    }
  }
}

/** The `Allow` header for a path with these operations. One that is always refused is not in it. */
function allowHeader(operations: readonly ContractOperation[]): string {
  const allowed = new Set(operations.filter(canSucceed).map(({ method }) => method));
  const listed = METHODS.filter((method) => allowed.has(method));
  const withHead = listed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...withHead, 'OPTIONS'].join(', ');
}

function canSucceed({ mediaTypes }: ContractOperation): boolean {
  return [...mediaTypes.keys()].some((status) => status < 400);
}

/** Tells the methods of each path, OPTIONS among them; none for a path that does not exist. */
export function createMethodTable(
  operations: readonly ContractOperation[],
): (path: string) => readonly string[] {
  const table = createRouteTable(operations);
  return (path) => {
    if (isServicePath(path)) return ['GET', 'HEAD', 'OPTIONS'];
    const declared = table.list(path);
    return declared.length === 0 ? [] : allowHeader(declared).split(', ');
  };
}

const SERVICE_PATHS: ReadonlySet<string> = new Set([
  '',
  '/docs',
  '/metrics',
  '/openapi.yaml',
  '/openapi.json',
]);

function isServicePath(path: string): boolean {
  return SERVICE_PATHS.has(path.replace(/\/$/, '')) || path.startsWith('/docs/');
}

function addServiceRoutes(server: Hapi.Server, options: HapiOptions): void {
  const { document, metrics } = options;
  server.route([
    {
      method: 'GET',
      path: '/metrics',
      handler: async (_request, h) =>
        h.response(await metrics.render()).type('text/plain; version=0.0.4'),
    },
    {
      method: 'GET',
      path: '/openapi.yaml',
      handler: (_request, h) => h.response(document.yaml).type('application/yaml'),
    },
    {
      method: 'GET',
      path: '/openapi.json',
      handler: (_request, h) => h.response(document.json).type('application/json'),
    },
  ]);
}

/** What Hapi itself refuses, in the domain's terms; anything unexpected stays what it was. */
function toRefusal(status: number, path: string, error: Error): unknown {
  if (status === 404) {
    const detail = path.startsWith('/api/') ? 'Endpoint not found.' : 'Not found.';
    return new Refusal('not_found', detail);
  }
  if (status === 413) return toTooLarge(new BodyTooLargeError(MANAGEMENT_MAX_BYTES));
  if (status === 415) return new Refusal('unsupported_media_type', error.message);
  if (status >= 400 && status < 500) return new Refusal('malformed', error.message);
  return error;
}

function send(h: Hapi.ResponseToolkit, reply: WireReply): Hapi.ResponseObject {
  const response = h.response(reply.body ?? undefined).code(reply.status);
  for (const [name, value] of Object.entries(reply.headers)) {
    if (name === 'content-type') response.type(value);
    else response.header(name, value);
  }
  if (reply.headers['content-type'] === 'application/json') response.charset('');
  return response;
}

/** The reply to everything while the service starts or stops. */
export function notReadyReply(state: 'starting' | 'stopping'): WireReply {
  return jsonReply(
    503,
    {
      type: 'server_error',
      code: 'service_unavailable',
      detail: `Burgee is ${state}. Please try again shortly.`,
      attr: null,
    },
    { 'retry-after': '1' },
  );
}
