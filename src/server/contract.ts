import type { ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { type Context, OpenAPIBackend } from 'openapi-backend';
import type { OpenAPIV3 } from 'openapi-types';
import { type Caller, hasScope, type ProjectAccess } from '../domain/access.ts';
import { DomainError } from '../domain/errors.ts';
import {
  type ContractDocument,
  type ContractOperation,
  readOperation,
} from './contract-document.ts';
import { pickFinding, toContractError } from './contract-errors.ts';
import { ContractRouter, type RoutedRequest } from './contract-router.ts';
import { decodeManagementBody } from './decode-body.ts';
import { normaliseQuery } from './normalise-query.ts';
import type { Handlers, OperationId } from './operation.ts';
import { runHandler } from './run-handler.ts';
import {
  type Credential,
  findCredential,
  findProjectToken,
  type Gatekeeper,
  refuseCredential,
} from './security.ts';
import type { WireReply, WireRequest } from './wire.ts';

export interface ContractOptions {
  readonly document: ContractDocument;
  readonly handlers: Handlers;
  readonly gatekeeper: Gatekeeper;
}

/** The contract at work: what there is to route to, and how a routed request is answered. */
export interface Contract {
  readonly operations: readonly ContractOperation[];
  /** Checks a request against the contract and runs its handler. Failures are thrown. */
  answer(operation: ContractOperation, request: WireRequest): Promise<WireReply>;
  /**
   * Holds a decoded request against the operation's compiled validators, by themselves. Gives the
   * query with its types, or the finding.
   */
  check(operation: ContractOperation, request: DecodedRequest): CheckedRequest | ErrorObject;
}

type Backend = OpenAPIBackend<OpenAPIV3.Document>;

/** A request whose body was decoded already. */
export interface DecodedRequest {
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A request that fits. `query` has the contract's types. */
export interface CheckedRequest {
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** One request on its way through openapi-backend. */
interface Call {
  readonly operation: ContractOperation;
  readonly request: WireRequest;
  readonly credential: Credential | null;
  /** Why the body could not be decoded; told only to callers who were let in. */
  readonly bodyError: unknown;
  caller: Caller | null;
  access: ProjectAccess | null;
}

/** Loads the contract into openapi-backend. Throws when contract and handlers do not match. */
export async function createContract(options: ContractOptions): Promise<Contract> {
  const { gatekeeper, handlers } = options;
  const api = new OpenAPIBackend<OpenAPIV3.Document>({
    definition: structuredClone(options.document.definition),
    strict: true,
    // The lint of the contract validates the document; doing it at each start costs seconds.
    quick: true,
    ignoreTrailingSlashes: false,
    coerceTypes: true,
    ajvOpts: { strict: false, verbose: true },
    customizeAjv: (ajv) => {
      addFormats.default(ajv);
      return ajv;
    },
  });
  registerSecurity(api, gatekeeper);
  registerRefusals(api);
  await api.init();
  const router = new ContractRouter({ definition: api.definition, ignoreTrailingSlashes: false });
  api.router = router;
  api.validator.router = router;
  const operations = router.getOperations().map((operation) => {
    const id = operation.operationId ?? '';
    if (!isOperationId(id, handlers)) throw new Error(`The operation ${id} has no handler.`);
    return readOperation(operation, id);
  });
  for (const operation of operations) {
    api.registerHandler(operation.id, (context: Context, call: Call) => {
      if (call.bodyError !== null) throw call.bodyError;
      return runHandler(handlers, operation, call, context.request);
    });
  }
  api.validator.preCompileRequestValidators();
  return {
    operations,
    answer: (operation, request) => answer(api, operation, request),
    check: (operation, request) => check(api, operation, request),
  };
}

function registerSecurity(api: Backend, gatekeeper: Gatekeeper): void {
  const holderOfKind = (kind: Caller['kind']) => async (_context: Context, call: Call) => {
    if (call.credential === null) return false;
    const caller = await gatekeeper.authenticate(call.credential.secret);
    if (caller?.kind !== kind) return false;
    call.caller = caller;
    return true;
  };
  api.registerSecurityHandler('personalApiKey', holderOfKind('user'));
  api.registerSecurityHandler('projectSecretKey', holderOfKind('project'));
  api.register('postSecurityHandler', async (context: Context, call: Call) => {
    if (call.caller === null || context.security?.authorized !== true) return;
    const { requiredScope } = call.operation;
    if (requiredScope !== null && !hasScope(call.caller, requiredScope)) {
      throw new DomainError(
        'permission_denied',
        `API key missing required scope '${requiredScope}'`,
      );
    }
    call.access = await gatekeeper.enterProject(call.caller, {
      projectId: call.request.params.project_id ?? null,
      token: findProjectToken(call.request),
    });
  });
}

function registerRefusals(api: Backend): void {
  api.register('unauthorizedHandler', (context: Context, call: Call) => {
    // openapi-backend reads a security handler that throws as a bad key. An outage is none.
    for (const result of Object.values(context.security ?? {})) {
      if (isFailure(result)) throw result.error;
    }
    throw refuseCredential(call.credential);
  });
  api.register('validationFail', (context: Context, call: Call) => {
    if (call.bodyError !== null) throw call.bodyError;
    throw toContractError(findingOf(context.validation.errors));
  });
}

function isFailure(result: unknown): result is { error: Error } {
  return (
    typeof result === 'object' &&
    result !== null &&
    'error' in result &&
    result.error instanceof Error
  );
}

async function answer(
  api: Backend,
  operation: ContractOperation,
  request: WireRequest,
): Promise<WireReply> {
  const body = operation.hasBody ? tryDecode(request) : { value: undefined, error: null };
  const call: Call = {
    operation,
    request,
    credential: findCredential(request, body.value),
    bodyError: body.error,
    caller: null,
    access: null,
  };
  const routed: RoutedRequest = {
    operationId: operation.id,
    method: request.method,
    path: request.path,
    params: { ...request.params },
    query: normaliseQuery(operation, request.query),
    headers: textHeaders(request),
    body: body.value,
  };
  return api.handleRequest(routed, call);
}

function tryDecode(request: WireRequest): { value: unknown; error: unknown } {
  try {
    return { value: decodeManagementBody(request.headers, request.payload), error: null };
  } catch (error) {
    return { value: undefined, error };
  }
}

function textHeaders(request: WireRequest): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

function check(
  api: Backend,
  operation: ContractOperation,
  { query, body }: DecodedRequest,
): CheckedRequest | ErrorObject {
  const [checkBody, checkParameters] =
    api.validator.getRequestValidatorsForOperation(operation.id) ?? [];
  if (checkBody?.({ requestBody: body }) === false) return findingOf(checkBody.errors);
  const declared = normaliseQuery(operation, query);
  // The validator turns the texts of the query into the types of the contract, in place.
  const parameters = { path: {}, query: declared, header: {}, cookie: {} };
  if (checkParameters?.(parameters) === false) return findingOf(checkParameters.errors);
  return { query: declared, body };
}

function findingOf(errors: readonly ErrorObject[] | null | undefined): ErrorObject {
  const finding = pickFinding(errors ?? []);
  if (finding === undefined) throw new Error('A validator refused a request without a finding.');
  return finding;
}

function isOperationId(id: string, handlers: Handlers): id is OperationId {
  return Object.hasOwn(handlers, id);
}
