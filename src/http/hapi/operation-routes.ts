import type Hapi from '@hapi/hapi';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { OperationPlan } from '../pipeline/plan.ts';
import { baseUrlOf, parseQuery, requestIdOf, splitTarget } from '../wire/request-target.ts';
import type { WireReply } from '../wire/wire.ts';
import { METHODS } from './methods.ts';

/** How long a client may take to send its body. */
const PAYLOAD_TIMEOUT_MS = 15_000;

/** What a body may come to that no operation takes. */
const UNUSED_MAX_BYTES = 4_194_304;

const NO_PAYLOAD = Buffer.alloc(0);

declare module '@hapi/hapi' {
  interface RouteOptionsApp {
    readonly plan?: OperationPlan;
  }
}

/** The adapter for operations behind Hapi: a route for each path, which runs the pipeline. */
export function addOperation(server: Hapi.Server, plan: OperationPlan, pipeline: Pipeline): void {
  const { operation, body } = plan;
  const payload = {
    parse: false,
    output: 'data',
    maxBytes: body?.bounds.maxBytes ?? UNUSED_MAX_BYTES,
    timeout: PAYLOAD_TIMEOUT_MS,
  } as const;
  for (const path of operation.paths) {
    server.route({
      method: toMethod(operation.method),
      path,
      options: { app: { plan }, ...(operation.method === 'GET' ? {} : { payload }) },
      handler: async (request, h) => sendReply(h, await pipeline.run(plan, toWireRequest(request))),
    });
  }
}

function toWireRequest(request: Hapi.Request) {
  const { req } = request.raw;
  const target = splitTarget(req.url ?? '/');
  return {
    method: request.method.toUpperCase(),
    path: target.path,
    params: textParams(request.params),
    query: parseQuery(target.search),
    headers: req.headers,
    payload: Buffer.isBuffer(request.payload) ? request.payload : NO_PAYLOAD,
    baseUrl: baseUrlOf(req),
    requestId: requestIdOf(req),
    receivedAt: new Date(request.info.received),
    peer: req.socket,
  };
}

function textParams(params: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}

function toMethod(method: string): Hapi.RouteDefMethods {
  const known = METHODS.find((candidate) => candidate === method);
  if (known === undefined) throw new Error(`The contract uses the unknown method ${method}.`);
  return known;
}

/** Sends a reply of the pipeline by Hapi. */
export function sendReply(h: Hapi.ResponseToolkit, reply: WireReply): Hapi.ResponseObject {
  const response = h.response(reply.body ?? undefined).code(reply.status);
  for (const [name, value] of Object.entries(reply.headers)) {
    if (name === 'content-type') response.type(value);
    else response.header(name, value);
  }
  if (reply.headers['content-type'] === 'application/json') response.charset('');
  return response;
}
