import { OpenAPIRouter, type ParsedRequest, type Request } from 'openapi-backend';
import type { OpenAPIV3 } from 'openapi-types';
import type { ExtendedOperation } from './contract-document.ts';

/**
 * The router of openapi-backend, made for a shell that has routed and parsed already.
 *
 * The stock router rebuilds its table of operations and compiles one regular expression for each
 * of them on every request. Here they are indexed once, Hapi's match is taken over, and the request
 * comes parsed. Relies on the public methods of the pinned version; contract-router.test.ts guards
 * that they are the ones in use.
 */
export class ContractRouter extends OpenAPIRouter<OpenAPIV3.Document> {
  private readonly operationsById: ReadonlyMap<string, ExtendedOperation>;
  private readonly operations: ExtendedOperation[];

  constructor(options: {
    readonly definition: OpenAPIV3.Document;
    readonly ignoreTrailingSlashes: boolean;
  }) {
    super(options);
    this.operations = super.getOperations();
    this.operationsById = new Map(
      this.operations.map((operation) => [operation.operationId ?? '', operation]),
    );
  }

  override getOperations(): ExtendedOperation[] {
    return this.operations;
  }

  override getOperation(operationId: string): ExtendedOperation | undefined {
    return this.operationsById.get(operationId);
  }

  override matchOperation(request: Request): ExtendedOperation;
  override matchOperation(request: Request, strict: boolean): ExtendedOperation;
  override matchOperation(request: Request): ExtendedOperation {
    const operation = isRouted(request) ? this.getOperation(request.operationId) : undefined;
    if (operation === undefined) throw new Error(`No operation for ${request.path}`);
    return operation;
  }

  override parseRequest(request: Request): ParsedRequest {
    return {
      method: request.method,
      path: request.path,
      params: request.params ?? {},
      query: request.query ?? {},
      headers: request.headers,
      cookies: {},
      requestBody: request.body,
    };
  }
}

/** A request for which Hapi has found the operation. */
export interface RoutedRequest extends Request {
  readonly operationId: string;
}

function isRouted(request: Request): request is RoutedRequest {
  return 'operationId' in request && typeof request.operationId === 'string';
}
