import type Hapi from '@hapi/hapi';
import { Refusal } from '../../domain/common/refusal.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { OperationPlan } from '../pipeline/plan.ts';
import { renderRefusal } from '../styles/render-refusal.ts';
import { allowHeader, METHODS } from './methods.ts';
import { sendReply } from './operation-routes.ts';

/** A body that nobody reads has no limit; its length must not hide that the method is wrong. */
const UNREAD_MAX_BYTES = Number.MAX_SAFE_INTEGER;

/**
 * Adds a 405 for every method that a path does not have. Registered by name: a wildcard route would
 * win over the literal paths beside `/{id}`.
 */
export function addRefusedMethods(server: Hapi.Server, plans: readonly OperationPlan[]): void {
  const operationsByPath = new Map<string, ContractOperation[]>();
  for (const { operation } of plans) {
    for (const path of operation.paths) {
      operationsByPath.set(path, [...(operationsByPath.get(path) ?? []), operation]);
    }
  }
  for (const [path, declared] of operationsByPath) {
    const allow = allowHeader(declared);
    const methods = new Set(declared.map(({ method }) => method));
    for (const method of METHODS.filter((candidate) => !methods.has(candidate))) {
      const refusal = new Refusal('method_not_allowed', `Method "${method}" not allowed.`);
      const reply = renderRefusal(refusal, 'management');
      server.route({
        method,
        path,
        options:
          method === 'GET'
            ? {}
            : { payload: { parse: false, output: 'stream', maxBytes: UNREAD_MAX_BYTES } },
        handler: (_request, h) => sendReply(h, reply).header('allow', allow),
      });
    }
  }
}
