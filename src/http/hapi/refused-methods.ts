import type Hapi from '@hapi/hapi';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { OperationPlan } from '../pipeline/plan.ts';
import { refuseMethod } from '../styles/refuse-method.ts';
import { allowHeader, METHODS } from './methods.ts';
import { sendReply } from './operation-routes.ts';

/** A body that nobody reads has no limit; its length must not hide that the method is wrong. */
const UNREAD_MAX_BYTES = Number.MAX_SAFE_INTEGER;

/**
 * Adds a 405 where Hapi would take a path for another one that has the method: `PUT` of the literal
 * path beside `/{id}` would change a flag of that name. Every other method that a path does not have
 * is told where Hapi has found no route.
 */
export function addRefusedMethods(server: Hapi.Server, plans: readonly OperationPlan[]): void {
  const operationsByPath = new Map<string, ContractOperation[]>();
  for (const { operation } of plans) {
    for (const path of operation.paths) {
      operationsByPath.set(path, [...(operationsByPath.get(path) ?? []), operation]);
    }
  }
  const others = [...operationsByPath].map(([path, declared]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    methods: new Set(declared.map(({ method }) => method)),
  }));
  for (const [path, declared] of operationsByPath) {
    const own = new Set(declared.map(({ method }) => method));
    const around = others.filter(({ pattern }) => pattern.test(path));
    for (const method of METHODS) {
      if (own.has(method) || !around.some(({ methods }) => methods.has(method))) continue;
      const reply = refuseMethod(method, allowHeader(declared));
      server.route({
        method,
        path,
        options:
          method === 'GET'
            ? {}
            : { payload: { parse: false, output: 'stream', maxBytes: UNREAD_MAX_BYTES } },
        handler: (_request, h) => sendReply(h, reply),
      });
    }
  }
}
