import type { ErrorObject, ValidateFunction } from 'ajv';
import type { ContractOperation } from './contract-document.ts';
import { normaliseQuery } from './normalise-query.ts';
import { pickFinding } from './pick-finding.ts';

/** A request whose body was decoded already, if it has one. */
export interface DecodedRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** A request that fits. Parameters have the contract's types. */
export interface ValidRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
}

/** Validates the requests of one operation with the validators that openapi-backend compiled. */
export interface RequestValidator {
  /** The parameters with their types, or what does not fit. */
  validate(request: DecodedRequest): ValidRequest | ErrorObject;
  /** The first finding about anything but the body, which may not have been read yet. */
  validateParameters(request: Omit<DecodedRequest, 'body'>): ErrorObject | null;
}

const NO_HEADERS: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * A query that fitted once is kept with its types beside the object that it was read from, which is
 * the same for equal texts.
 */
export function createRequestValidator(
  operation: ContractOperation,
  validators: readonly ValidateFunction[],
): RequestValidator {
  const typedQueries = new WeakMap<object, Record<string, string>>();
  return {
    validate({ params, query, headers, body }) {
      const typed = typedQueries.get(query);
      const parts = {
        requestBody: body,
        // The validators turn the texts of parameters into the types of the contract, in place.
        path: { ...params },
        query: typed ?? normaliseQuery(operation, query),
        header: operation.hasHeaderParameters ? { ...headers } : NO_HEADERS,
        cookie: {},
      };
      const finding = findFault(validators, parts);
      if (finding !== null) return finding;
      if (typed === undefined) typedQueries.set(query, parts.query);
      return { params: parts.path, query: parts.query };
    },

    validateParameters({ params, query, headers }) {
      const parts = {
        path: { ...params },
        query: normaliseQuery(operation, query),
        header: { ...headers },
        cookie: {},
      };
      // Parameters and body have validators of their own.
      for (const validate of validators) {
        if (validate(parts) !== false) continue;
        const finding = findingOf(validate.errors);
        if (finding.params.missingProperty !== 'requestBody') return finding;
      }
      return null;
    },
  };
}

/** Whether validation found that the request does not fit. */
export function isFinding(result: object): result is ErrorObject {
  return 'keyword' in result;
}

function findFault(validators: readonly ValidateFunction[], parts: object): ErrorObject | null {
  let findings: ErrorObject[] | null = null;
  for (const validate of validators) {
    if (validate(parts) !== false) continue;
    findings = [...(findings ?? []), ...(validate.errors ?? [])];
  }
  return findings === null ? null : findingOf(findings);
}

function findingOf(errors: readonly ErrorObject[] | null | undefined): ErrorObject {
  const finding = pickFinding(errors ?? []);
  if (finding === undefined) throw new Error('A validator refused a request without a finding.');
  return finding;
}
