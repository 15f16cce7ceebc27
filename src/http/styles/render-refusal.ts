import { Refusal, type RefusalKind } from '../../domain/common/refusal.ts';
import { ACCEPTED_ENCODINGS } from '../decode/unpack.ts';
import type { ErrorStyle } from '../wire/error-style.ts';
import { jsonReply, textReply } from '../wire/replies.ts';
import type { WireReply } from '../wire/wire.ts';

/** The styles that tell most failures as text. */
type TextStyle = 'evaluation' | 'capture';

interface Form {
  readonly status: number;
  readonly type: string;
}

const FORMS: Readonly<Record<RefusalKind, Form>> = {
  malformed: { status: 400, type: 'invalid_request' },
  invalid: { status: 400, type: 'validation_error' },
  not_authenticated: { status: 401, type: 'authentication_error' },
  authentication_failed: { status: 401, type: 'authentication_error' },
  permission_denied: { status: 403, type: 'authentication_error' },
  not_found: { status: 404, type: 'invalid_request' },
  method_not_allowed: { status: 405, type: 'invalid_request' },
  conflict: { status: 409, type: 'server_error' },
  too_large: { status: 413, type: 'invalid_request' },
  unsupported_media_type: { status: 415, type: 'invalid_request' },
  unprocessable: { status: 422, type: 'invalid_request' },
  unreadable: { status: 500, type: 'server_error' },
  unavailable: { status: 503, type: 'server_error' },
};

const RETRY_AFTER_SECONDS = '1';

const SERVER_FAULT: Readonly<Record<TextStyle, string>> = {
  evaluation:
    'An internal server error occurred. Please try again later or contact support if the ' +
    'problem persists.',
  capture: 'An internal server error occurred. Please try again later.',
};

const OUTAGE: Readonly<Record<TextStyle, string>> = {
  evaluation:
    'Our database service is currently unavailable. This is likely a temporary issue. ' +
    'Please try again in a few moments.',
  capture: 'transient error, please retry',
};

/**
 * The one place where a refusal becomes bytes. Whatever is no Refusal is a fault of the service: 500,
 * and nothing of it reaches the client.
 */
export function renderRefusal(error: unknown, style: ErrorStyle): WireReply {
  if (style === 'capture_v1') return renderCaptureV1(error);
  if (!(error instanceof Refusal)) return serverFault(style);
  const { status, type } = FORMS[error.kind];
  const headers: Record<string, string> =
    error.kind === 'unavailable' ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
  if (isTextStyle(style) && !isEnvelope(error, style)) {
    const text = error.kind === 'unavailable' ? OUTAGE[style] : error.detail;
    return textReply(status, text, headers);
  }
  const envelope = { type, code: error.code, detail: error.detail, attr: error.attr };
  return jsonReply(status, inForm(error, envelope), headers);
}

/** The envelope, in the form that some actions have always had. */
function inForm(error: Refusal, envelope: object): object {
  if (error.form === 'envelope') return envelope;
  const legacy = { error: error.detail, ...envelope };
  return error.form === 'success' ? { success: false, ...legacy } : legacy;
}

/** What refusals of capture v1 say about what would have been taken. */
const NEGOTIATION: Readonly<Record<string, string>> = {
  accept: 'application/json',
  'accept-encoding': ACCEPTED_ENCODINGS,
};

const ERROR_URI = 'https://posthog.com/docs/api';

/** A refusal of capture v1: a word for programs, a sentence for people. */
function captureV1Reply(
  status: number,
  error: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): WireReply {
  const body = { error, error_description: text, error_uri: ERROR_URI };
  return jsonReply(status, body, { ...NEGOTIATION, ...headers });
}

function renderCaptureV1(error: unknown): WireReply {
  if (!(error instanceof Refusal)) {
    return captureV1Reply(500, 'internal_error', 'A server error occurred.');
  }
  const { status } = FORMS[error.kind];
  if (error.kind !== 'unavailable') return captureV1Reply(status, error.code, error.detail);
  const headers = { 'retry-after': RETRY_AFTER_SECONDS };
  return captureV1Reply(status, 'service_unavailable', error.detail, headers);
}

/** Evaluation tells a bad key in the envelope and everything else as text. */
function isEnvelope(error: Refusal, style: ErrorStyle): boolean {
  return (
    style === 'evaluation' &&
    (error.kind === 'not_authenticated' || error.kind === 'authentication_failed')
  );
}

function serverFault(style: ErrorStyle): WireReply {
  if (isTextStyle(style)) return textReply(500, SERVER_FAULT[style]);
  const isFeed = style === 'definitions';
  return jsonReply(500, {
    type: 'server_error',
    code: isFeed ? 'unexpected_error' : 'error',
    detail: isFeed ? 'An unexpected error occurred' : 'A server error occurred.',
    attr: null,
  });
}

function isTextStyle(style: ErrorStyle): style is TextStyle {
  return style === 'evaluation' || style === 'capture';
}
