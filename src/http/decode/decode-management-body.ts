import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../../domain/common/refusal.ts';
import {
  BodyTooLargeError,
  DecodeError,
  decodeUtf8,
  inflate,
  isGzip,
  mediaTypeOf,
  parseJson,
} from './body-parts.ts';

/** The largest body of a management request, in bytes, before and after inflating. */
export const MANAGEMENT_MAX_BYTES = 4_194_304;

/**
 * The JSON of a management request; undefined for an empty body. Throws 415 for another media type
 * and 400 for text that is no JSON.
 */
export function decodeManagementBody(headers: IncomingHttpHeaders, payload: Buffer): unknown {
  if (payload.length === 0) return undefined;
  const mediaType = mediaTypeOf(headers);
  if (mediaType !== '' && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    throw unsupported(headers);
  }
  try {
    const bytes = isGzip(payload) ? inflate(payload, MANAGEMENT_MAX_BYTES) : payload;
    return parseJson(decodeUtf8(bytes));
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw toTooLarge(error);
    if (error instanceof DecodeError) {
      throw new Refusal('malformed', `JSON parse error - ${error.reason}`);
    }
    throw error;
  }
}

/**
 * The text of a management request that takes one, such as a CSV file. Throws 415 for another media
 * type and 400 for what is no UTF-8.
 */
export function decodeTextBody(
  headers: IncomingHttpHeaders,
  payload: Buffer,
  mediaType: string,
): string {
  if (mediaTypeOf(headers) !== mediaType) throw unsupported(headers);
  try {
    return decodeUtf8(isGzip(payload) ? inflate(payload, MANAGEMENT_MAX_BYTES) : payload);
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw toTooLarge(error);
    if (error instanceof DecodeError) throw new Refusal('malformed', `${error.reason}.`);
    throw error;
  }
}

function unsupported(headers: IncomingHttpHeaders): Refusal {
  return new Refusal(
    'unsupported_media_type',
    `Unsupported media type "${headers['content-type'] ?? ''}" in request.`,
  );
}

/** A body over the limit as the management API tells it. */
export function toTooLarge(error: BodyTooLargeError): Refusal {
  return new Refusal('too_large', `The request body is larger than ${error.limitBytes} bytes.`);
}
