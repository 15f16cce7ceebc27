import { type Caller, hasScope, type ProjectAccess } from '../../domain/common/access.ts';
import type { Eventually } from '../../domain/common/eventually.ts';
import { Refusal } from '../../domain/common/refusal.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { WireRequest } from '../wire/wire.ts';
import type { Gatekeeper } from './identify.ts';

/** Throws unless the caller holds the scope that the operation asks for. */
function requireScope({ requiredScope }: ContractOperation, caller: Caller): void {
  if (requiredScope === null || hasScope(caller, requiredScope)) return;
  throw new Refusal('permission_denied', `API key missing required scope '${requiredScope}'`);
}

/**
 * Lets a caller, whose key is good, do what the operation does, in the project of the request if it
 * runs in one; null if it runs in none. Throws or rejects with a Refusal when it may not.
 */
export function authorise(
  gatekeeper: Gatekeeper,
  operation: ContractOperation,
  request: WireRequest,
  caller: Caller,
): Eventually<ProjectAccess | null> {
  requireScope(operation, caller);
  if (!operation.runsInProject) return null;
  return gatekeeper.enterProject(caller, {
    projectId: request.params.project_id ?? null,
    token: findProjectToken(request),
  });
}

/** The project API key by which a request names its project, apart from its path. */
export function findProjectToken(request: WireRequest): string | null {
  if (request.method === 'GET' || request.method === 'HEAD') {
    const token = request.query.token ?? request.query.api_key ?? '';
    if (token !== '') return token;
  }
  const header = request.headers['x-posthog-project-api-key'];
  return typeof header === 'string' && header !== '' ? header : null;
}
