/**
 * The closed list of ways a request can be refused. The HTTP side decides what each looks like on the
 * wire; nothing in the domain knows a status code.
 */
export type RefusalKind =
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

export interface RefusalOptions {
  /** The stable name of the fault; each kind has a default. */
  readonly code?: string;
  /** The field at fault, its path joined with `__`; null when no single field is. */
  readonly attr?: string | null;
  /** What went wrong underneath; logged, never sent. */
  readonly cause?: unknown;
  /** What the body of the refusal says beside the envelope. */
  readonly form?: RefusalForm;
}

/**
 * Some actions have always said their refusals in a form of their own, and say them in it beside the
 * envelope: `error` with the detail, or that and `success: false`.
 */
export type RefusalForm = 'envelope' | 'error' | 'success';

const DEFAULT_CODES: Readonly<Record<RefusalKind, string>> = {
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

/** A failure that has a documented reply. Anything else that is thrown is a fault of Burgee. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly kind: RefusalKind;
  readonly code: string;
  readonly detail: string;
  readonly attr: string | null;
  readonly form: RefusalForm;

  constructor(kind: RefusalKind, detail: string, options: RefusalOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = options.code ?? DEFAULT_CODES[kind];
    this.detail = detail;
    this.attr = options.attr ?? null;
    this.form = options.form ?? 'envelope';
  }
}

/** An action that breaks a rule, said in the form that such actions have. */
export function refusedAction(
  form: RefusalForm,
  { detail, code = 'invalid_input', attr = null }: Pick<Refusal, 'detail'> & RefusalOptions,
): Refusal {
  return new Refusal('invalid', detail, { code, attr, form });
}

/** A field that breaks a rule: 400 with the field named. */
export function invalidField(attr: string | null, detail: string, code?: string): Refusal {
  return new Refusal('invalid', detail, code === undefined ? { attr } : { attr, code });
}

/** A thing that does not exist, or not for this caller. */
export function notFound(detail = 'Not found.'): Refusal {
  return new Refusal('not_found', detail);
}

/** Something that is stored and cannot be read any more; the operator has to mend it. */
export function unreadable(detail: string, code: string, cause: unknown): Refusal {
  return new Refusal('unreadable', detail, { code, cause });
}

/** A dependency that does not answer; never the caller's fault. */
export function unavailable(detail: string, cause: unknown): Refusal {
  return new Refusal('unavailable', detail, { cause });
}
