import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import Hapi from '@hapi/hapi';
import { Refusal } from '../../domain/common/refusal.ts';
import type { ContractDocument } from '../contract/contract-document.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { OperationPlan } from '../pipeline/plan.ts';
import { refuseMethod } from '../styles/refuse-method.ts';
import { renderRefusal } from '../styles/render-refusal.ts';
import { requestIdOf } from '../wire/request-target.ts';
import { addOperation, sendReply } from './operation-routes.ts';
import { addReferencePage } from './reference-page.ts';
import { addRefusedMethods } from './refused-methods.ts';

export interface HapiOptions {
  readonly plans: readonly OperationPlan[];
  readonly pipeline: Pipeline;
  readonly document: ContractDocument;
  readonly metrics: Metrics;
  /** The methods of each path; none for a path that does not exist. */
  readonly methodsOf: (path: string) => readonly string[];
}

/**
 * Hapi with one route for each path and operation of the contract, and the routes of those who run
 * the service. It does not listen: the listener does, and forwards requests.
 */
export async function createHapi(options: HapiOptions): Promise<Hapi.Server> {
  const { plans, pipeline } = options;
  const server = Hapi.server({
    listener: createHttpServer(),
    autoListen: false,
    debug: false,
    // The listener closes the connections; Hapi, which never listens, knows of none and would throw.
    operations: { cleanStop: false },
    router: { stripTrailingSlash: true },
    routes: { state: { parse: false, failAction: 'ignore' } },
  });
  for (const plan of plans) addOperation(server, plan, pipeline);
  addRefusedMethods(server, plans);
  addServiceRoutes(server, options);
  addReferencePage(server);
  server.ext('onPreResponse', (request, h) => {
    const { response } = request;
    if (!('isBoom' in response)) {
      response.vary('origin');
      return h.continue;
    }
    const { plan } = request.route.settings.app ?? {};
    if (response.output.statusCode === 404) {
      const reply = refuseOtherMethod(request, options);
      if (reply !== null) return sendReply(h, reply);
    }
    const refusal = toRefusal(response.output.statusCode, request.path, response, plan);
    const requestId = requestIdOf(request.raw.req);
    return sendReply(
      h,
      plan === undefined || !(refusal instanceof Refusal)
        ? renderRefusal(refusal, plan?.operation.errorStyle ?? 'management')
        : pipeline.refuse(plan, refusal, requestId),
    );
  });
  // Started, but not listening: before its start Hapi closes every connection after one reply.
  await server.start();
  return server;
}

/** The refusal of a method that the path does not have; null where there is no such path. */
function refuseOtherMethod({ method, path }: Hapi.Request, { methodsOf }: HapiOptions) {
  // Hapi has taken off the one slash that may be at the end.
  const methods = path.endsWith('/') ? [] : methodsOf(path);
  const name = method.toUpperCase();
  return methods.length === 0 || methods.includes(name)
    ? null
    : refuseMethod(name, methods.join(', '));
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

function addServiceRoutes(server: Hapi.Server, { document, metrics }: HapiOptions): void {
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

/** What Hapi itself refuses, in the terms of the domain; anything unexpected stays what it was. */
function toRefusal(
  status: number,
  path: string,
  error: Error,
  plan: OperationPlan | undefined,
): unknown {
  if (status === 404) {
    const detail = path.startsWith('/api/') ? 'Endpoint not found.' : 'Not found.';
    return new Refusal('not_found', detail);
  }
  if (status === 413 && plan?.body != null) return plan.refuseLarge(plan.body.bounds.maxBytes);
  if (status === 415) return new Refusal('unsupported_media_type', error.message);
  if (status >= 400 && status < 500) return new Refusal('malformed', error.message);
  return error;
}
