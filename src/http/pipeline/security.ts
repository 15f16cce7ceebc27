import { type Caller, hasScope, type ProjectAccess } from '../../domain/common/access.ts';
import { isJsonObject } from '../../domain/common/json.ts';
import { Refusal } from '../../domain/common/refusal.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { Eventually, WireRequest } from './wire.ts';

/** Looks keys and projects up. An outage is thrown as `unavailable`, never told as a bad key. */
export interface Gatekeeper {
  /** The holder of a secret key, or null when nobody holds it. Neither look-up throws at once. */
  authenticate(secret: string): Eventually<Caller | null>;
  /**
   * Lets the caller into a project, or throws: 404 for an unknown one, 403 for another's, 401 for
   * an unknown token. `projectId` is the path's text; null takes the caller's own project.
   */
  enterProject(
    caller: Caller,
    target: { readonly projectId: string | null; readonly token: string | null },
  ): Eventually<ProjectAccess>;
}

/** The scheme of the contract by which each kind of caller comes in. */
export const SCHEME_OF_CALLER: Readonly<Record<Caller['kind'], string>> = {
  user: 'personalApiKey',
  project: 'projectSecretKey',
};

/** A secret that the request carries, and where it was found. */
export interface Credential {
  readonly secret: string;
  readonly source: 'request Authorization header' | 'body' | 'query string';
}

/**
 * The first credential that is there: the bearer header, then the body, then the query. Only that
 * one is tried.
 */
export function findCredential(request: WireRequest, body: unknown): Credential | null {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return { secret: bearer, source: 'request Authorization header' };
  if (isJsonObject(body)) {
    const secret = body.personal_api_key ?? body.secret_api_key;
    if (typeof secret === 'string' && secret !== '') return { secret, source: 'body' };
  }
  const secret = request.query.personal_api_key;
  return secret === undefined || secret === '' ? null : { secret, source: 'query string' };
}

/**
 * Why nobody was let in: no credential, or one that nobody holds or that does not belong here. Where
 * secret keys of projects are taken, one is told apart by its prefix.
 */
export function refuseCredential(
  operation: ContractOperation,
  credential: Credential | null,
): Refusal {
  if (credential === null) {
    return new Refusal('not_authenticated', 'Authentication credentials were not provided.');
  }
  if (operation.securitySchemes.has(SCHEME_OF_CALLER.project) && isProjectSecret(credential)) {
    return new Refusal('authentication_failed', 'Secret API token is invalid.');
  }
  return new Refusal(
    'authentication_failed',
    `Personal API key found in ${credential.source} is invalid.`,
  );
}

function isProjectSecret({ secret }: Credential): boolean {
  return secret.startsWith('phs_');
}

/** Throws unless the caller holds the scope that the operation asks for. */
export function requireScope({ requiredScope }: ContractOperation, caller: Caller): void {
  if (requiredScope === null || hasScope(caller, requiredScope)) return;
  throw new Refusal('permission_denied', `API key missing required scope '${requiredScope}'`);
}

/** Lets a caller, whose key is good, into the project of a request; throws when it may not. */
export function admitCaller(
  gatekeeper: Gatekeeper,
  operation: ContractOperation,
  request: WireRequest,
  caller: Caller,
): Eventually<ProjectAccess> {
  requireScope(operation, caller);
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
