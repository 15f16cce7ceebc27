import type { OpenAPIV3 } from 'openapi-types';

/** An operation of openapi-backend, with the extensions that Burgee's contract uses. */
export type ExtendedOperation = OpenAPIV3.OperationObject & {
  readonly path: string;
  readonly method: string;
  readonly 'x-alias-paths'?: readonly string[];
  readonly 'x-required-scope'?: string;
  readonly 'x-may-be-empty'?: boolean;
  readonly 'x-lane'?: string;
  readonly 'x-body'?: string;
};
