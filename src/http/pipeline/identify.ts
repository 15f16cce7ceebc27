import type { Caller, ProjectAccess } from '../../domain/common/access.ts';
import { andThen, type Eventually } from '../../domain/common/eventually.ts';
import { isJsonObject } from '../../domain/common/json.ts';
import { Refusal } from '../../domain/common/refusal.ts';
import type { ContractOperation } from '../contract/contract-document.ts';
import type { WireRequest } from '../wire/wire.ts';

/** Looks keys and projects up. An outage is thrown as `unavailable`, never told as a bad key. */
export interface Gatekeeper {
  /**
   * The holder of a secret key, or null when nobody holds it. `address` is where the request came
   * from: one that sends bad keys all the time waits longer for what is not known yet.
   */
  authenticate(secret: string, address?: string): Eventually<Caller | null>;
  /**
   * Lets the caller into a project, or throws: 404 for an unknown one, 403 for another's, 401 for
   * an unknown token. `projectId` is the path's text; null takes the caller's own project.
   */
  enterProject(
    caller: Caller,
    target: { readonly projectId: string | null; readonly token: string | null },
  ): Eventually<ProjectAccess>;
  /** Throws or rejects with 401 unless the project API key belongs to a project. */
  requireProjectToken(token: string | null): Eventually<void>;
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

/** The credential of the head of a request: the bearer header, then the query. Only one is tried. */
export function findCredential(request: WireRequest): Credential | null {
  const bearer = bearerOf(request);
  if (bearer !== null) {
    return { secret: bearer, source: 'request Authorization header' };
  }
  const secret = request.query.personal_api_key;
  return secret === undefined || secret === '' ? null : { secret, source: 'query string' };
}

/** The credential inside of a body, where clients put one that have none in the head. */
export function findBodyCredential(body: unknown): Credential | null {
  if (!isJsonObject(body)) return null;
  const secret = body.personal_api_key ?? body.secret_api_key;
  return typeof secret === 'string' && secret !== '' ? { secret, source: 'body' } : null;
}

/** What stands behind `Bearer`; null when nothing of the kind was sent. */
export function bearerOf({ headers }: WireRequest): string | null {
  return /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** The holder of the credential; throws or rejects with a Refusal when it opens nothing here. */
export function identify(
  gatekeeper: Gatekeeper,
  operation: ContractOperation,
  credential: Credential | null,
  address: string | undefined,
): Eventually<Caller> {
  if (credential === null) throw refuseCredential(operation, null);
  return andThen(gatekeeper.authenticate(credential.secret, address), (caller) => {
    if (caller !== null && operation.securitySchemes.has(SCHEME_OF_CALLER[caller.kind])) {
      return caller;
    }
    throw refuseCredential(operation, credential);
  });
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
