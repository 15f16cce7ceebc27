import type { ErrorObject } from 'ajv';
import { Refusal } from '../../domain/common/refusal.ts';
import { encodingOf } from '../decode/decode-encoded.ts';
import { isAcceptedEncoding } from '../decode/unpack.ts';
import { mediaTypeOf } from '../wire/media-type.ts';
import type { WireRequest } from '../wire/wire.ts';
import type { HeadCheck, Style } from './style.ts';

/** The JSON of capture v1, which is strict about headers. */
export const captureV1Style: Style = {
  refuseHead,
  echoedHeaders: ['posthog-request-id'],
  wordFault: ({ kind, reason }) => {
    if (kind === 'too_large') {
      const sentence = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
      return new Refusal('too_large', sentence, { code: 'payload_too_large' });
    }
    const code = kind === 'syntax' ? 'request_parsing_error' : 'request_decoding_error';
    return new Refusal('malformed', `The body cannot be read: ${reason}.`, { code });
  },
  wordFinding,
};

/**
 * What is wrong before the body is looked at: whoever sends no key is told so first and costs
 * nothing more, then headers that are missing, what cannot be read, and values that do not fit.
 */
function refuseHead(request: WireRequest, check: HeadCheck): Refusal | null {
  const { headers, payload } = request;
  if ((headers.authorization ?? '') === '') {
    const code = 'invalid_api_token';
    return new Refusal('not_authenticated', 'The header Authorization is missing.', { code });
  }
  if (mediaTypeOf(headers) === '') {
    return malformed('missing_required_headers', 'Content-Type is missing.');
  }
  const finding = check();
  if (finding?.keyword === 'required') return wordFinding(finding);
  const refusal = refuseType(request) ?? (finding === null ? null : wordFinding(finding));
  if (refusal !== null) return refusal;
  return payload.length === 0 ? malformed('empty_body', 'There is no body.') : null;
}

function refuseType(request: WireRequest): Refusal | null {
  const mediaType = mediaTypeOf(request.headers);
  if (mediaType !== 'application/json') {
    const text = `The content type "${mediaType}" is not supported.`;
    return new Refusal('unsupported_media_type', text, { code: 'unsupported_content_type' });
  }
  const encoding = encodingOf(request);
  if (isAcceptedEncoding(encoding)) return null;
  const text = `The encoding "${encoding}" is not supported.`;
  return new Refusal('unsupported_media_type', text, { code: 'unsupported_encoding' });
}

function wordFinding({ instancePath, keyword, params, message }: ErrorObject): Refusal {
  const [, place, ...steps] = instancePath.split('/');
  const field = steps.join('.');
  if (place === 'header') {
    const missing: unknown = params.missingProperty;
    return keyword === 'required'
      ? malformed('missing_required_headers', `The header ${missing} is missing.`)
      : malformed('invalid_header_value', `The header ${field} ${message}.`);
  }
  const isAboutBatch = field.startsWith('batch') || params.missingProperty === 'batch';
  const code = isAboutBatch ? 'invalid_batch' : 'request_parsing_error';
  return malformed(code, `${field === '' ? 'The body' : field} ${message}.`);
}

function malformed(code: string, detail: string): Refusal {
  return new Refusal('malformed', detail, { code });
}
