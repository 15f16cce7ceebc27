/**
 * The closed list of ways a request can fail. The HTTP shell decides what each looks like on the
 * wire; nothing in the domain knows a status code.
 */
export type DomainErrorKind =
  | 'malformed'
  | 'invalid'
  | 'not_authenticated'
  | 'authentication_failed'
  | 'permission_denied'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media_type'
  | 'unprocessable'
  | 'unreadable'
  | 'unavailable';

export interface DomainErrorOptions {
  /** The stable name of the fault; each kind has a default. */
  readonly code?: string;
  /** The field at fault, its path joined with `__`; null when no single field is. */
  readonly attr?: string | null;
  /** What went wrong underneath; logged, never sent. */
  readonly cause?: unknown;
}

const DEFAULT_CODES: Readonly<Record<DomainErrorKind, string>> = {
  malformed: 'parse_error',
  invalid: 'invalid_input',
  not_authenticated: 'not_authenticated',
  authentication_failed: 'authentication_failed',
  permission_denied: 'permission_denied',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  conflict: 'conflict',
  too_large: 'request_too_large',
  unsupported_media_type: 'unsupported_media_type',
  unprocessable: 'unprocessable_entity',
  unreadable: 'error',
  unavailable: 'service_unavailable',
};

/** A failure that has a documented reply. Anything else that is thrown is a fault of Burgee's. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly kind: DomainErrorKind;
  readonly code: string;
  readonly detail: string;
  readonly attr: string | null;

  constructor(kind: DomainErrorKind, detail: string, options: DomainErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = options.code ?? DEFAULT_CODES[kind];
    this.detail = detail;
    this.attr = options.attr ?? null;
  }
}

/** A field that breaks a rule: 400 with the field named. */
export function invalidField(attr: string | null, detail: string, code?: string): DomainError {
  return new DomainError('invalid', detail, code === undefined ? { attr } : { attr, code });
}

/** A thing that does not exist, or not for this caller. */
export function notFound(detail = 'Not found.'): DomainError {
  return new DomainError('not_found', detail);
}

/** Something that is stored and cannot be read any more; the operator has to mend it. */
export function unreadable(detail: string, code: string, cause: unknown): DomainError {
  return new DomainError('unreadable', detail, { code, cause });
}

/** A dependency that does not answer; never the caller's fault. */
export function unavailable(detail: string, cause: unknown): DomainError {
  return new DomainError('unavailable', detail, { cause });
}
