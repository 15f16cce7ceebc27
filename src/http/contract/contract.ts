import type { ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { type Context, OpenAPIBackend } from 'openapi-backend';
import type { OpenAPIV3 } from 'openapi-types';
import type { Caller, ProjectAccess } from '../../domain/common/access.ts';
import type { Handlers, OperationId } from '../../operations/operation.ts';
import { decodeManagementBody, decodeTextBody } from '../decode/decode-management-body.ts';
import { runHandler } from '../pipeline/run-handler.ts';
import {
  admitCaller,
  type Credential,
  findCredential,
  type Gatekeeper,
  refuseCredential,
  requireScope,
  SCHEME_OF_CALLER,
} from '../pipeline/security.ts';
import type { WireReply, WireRequest } from '../pipeline/wire.ts';
import {
  type ContractDocument,
  type ContractOperation,
  readOperation,
} from './contract-document.ts';
import { pickFinding, toContractError } from './contract-errors.ts';
import { ContractRouter, type RoutedRequest } from './contract-router.ts';
import { normaliseQuery } from './normalise-query.ts';

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
  /** The first finding about anything but the body, which may not have been read yet. */
  checkParameters(
    operation: ContractOperation,
    request: Omit<DecodedRequest, 'body'>,
  ): ErrorObject | null;
}

type Backend = OpenAPIBackend<OpenAPIV3.Document>;

/** A request whose body was decoded already, if it has one. */
export interface DecodedRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Looked at by operations whose contract names headers; names are lower case. */
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** A request that fits. Parameters have the contract's types. */
export interface CheckedRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
}

/** One request on its way through openapi-backend. */
interface Call {
  readonly operation: ContractOperation;
  readonly request: WireRequest;
  readonly credential: Credential | null;
  /** Why the body could not be decoded; told only to callers who were let in. */
  readonly bodyError: unknown;
  /** The body of an operation that takes text. */
  readonly textBody: string | null;
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
      // Text that happens to be JSON, such as one number, was parsed on its way.
      const text = call.textBody === null ? {} : { requestBody: call.textBody };
      return runHandler(handlers, operation, call, { ...context.request, ...text });
    });
  }
  api.validator.preCompileRequestValidators();
  return {
    operations,
    answer: (operation, request) => answer(api, operation, request),
    check: createCheck(api),
    checkParameters: createParameterCheck(api),
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
  api.registerSecurityHandler(SCHEME_OF_CALLER.user, holderOfKind('user'));
  api.registerSecurityHandler(SCHEME_OF_CALLER.project, holderOfKind('project'));
  api.register('postSecurityHandler', async (context: Context, call: Call) => {
    if (call.caller === null || context.security?.authorized !== true) return;
    const { operation, request, caller } = call;
    if (operation.runsInProject) {
      call.access = await admitCaller(gatekeeper, operation, request, caller);
    } else {
      requireScope(operation, caller);
    }
  });
}

function registerRefusals(api: Backend): void {
  api.register('unauthorizedHandler', (context: Context, call: Call) => {
    // openapi-backend reads a security handler that throws as a bad key. An outage is none.
    for (const result of Object.values(context.security ?? {})) {
      if (isFailure(result)) throw result.error;
    }
    throw refuseCredential(call.operation, call.credential);
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
  const body = operation.hasBody
    ? tryDecode(operation, request)
    : { value: undefined, error: null };
  const call: Call = {
    operation,
    request,
    credential: findCredential(request, body.value),
    bodyError: body.error,
    textBody: typeof body.value === 'string' && operation.textBody !== null ? body.value : null,
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

function tryDecode(
  operation: ContractOperation,
  { headers, payload }: WireRequest,
): { value: unknown; error: unknown } {
  try {
    const value =
      operation.textBody === null
        ? decodeManagementBody(headers, payload)
        : decodeTextBody(headers, payload, operation.textBody);
    return { value, error: null };
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

function createParameterCheck(api: Backend): Contract['checkParameters'] {
  return (operation, { params = {}, query, headers = {} }) => {
    const parts = {
      path: { ...params },
      query: normaliseQuery(operation, query),
      header: { ...headers },
      cookie: {},
    };
    // Parameters and body have validators of their own.
    for (const validate of api.validator.getRequestValidatorsForOperation(operation.id) ?? []) {
      if (validate(parts) !== false) continue;
      const finding = findingOf(validate.errors);
      if (finding.params.missingProperty !== 'requestBody') return finding;
    }
    return null;
  };
}

/**
 * Checks with the compiled validators of an operation. A query that fitted once is kept with its
 * types beside the object that it was read from, which is the same for equal texts.
 */
function createCheck(api: Backend): Contract['check'] {
  const typedQueries = new Map<OperationId, WeakMap<object, Record<string, string>>>();
  return (operation, { params = {}, query, headers = {}, body }) => {
    let known = typedQueries.get(operation.id);
    if (known === undefined) {
      known = new WeakMap();
      typedQueries.set(operation.id, known);
    }
    const typed = known.get(query);
    const parts = {
      requestBody: body,
      // The validator turns the texts of parameters into the types of the contract, in place.
      path: { ...params },
      query: typed ?? normaliseQuery(operation, query),
      header: headers,
      cookie: {},
    };
    for (const validate of api.validator.getRequestValidatorsForOperation(operation.id) ?? []) {
      if (validate(parts) === false) return findingOf(validate.errors);
    }
    if (typed === undefined) known.set(query, parts.query);
    return { params: parts.path, query: parts.query };
  };
}

function findingOf(errors: readonly ErrorObject[] | null | undefined): ErrorObject {
  const finding = pickFinding(errors ?? []);
  if (finding === undefined) throw new Error('A validator refused a request without a finding.');
  return finding;
}

function isOperationId(id: string, handlers: Handlers): id is OperationId {
  return Object.hasOwn(handlers, id);
}
