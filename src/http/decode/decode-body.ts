import type { IncomingHttpHeaders } from 'node:http';
import {
  BodyTooLargeError,
  DecodeError,
  inflate,
  isGzip,
  mediaTypeOf,
  parseJson,
  stripByteOrderMark,
} from './body-parts.ts';
import { decompressLz } from './lz-string.ts';
import { replaceNonFinite } from './non-finite.ts';

/** How a body is unpacked, and what the query says about its packing. */
export interface IngestOptions {
  /** The most bytes after inflating. */
  readonly inflatedMaxBytes: number;
  /** A packing that the operation does not know. */
  readonly isUnsupported?: boolean;
  /** The body is said to be gzip, which cannot be inside a form. */
  readonly isFormGzipRefused?: boolean;
  /** Capture takes what clients of all ages send: any media type, and LZ-string. */
  readonly isLenient?: boolean;
  /** The packing that the query names; a form's field goes next, then `Content-Encoding`. */
  readonly compression?: string | undefined;
}

const ACCEPTED_INGEST_TYPES = new Set([
  '',
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
]);

const FORM_START = /^(data|ver|_|ip|compression)=/;

const LZ_NAMES = new Set(['lz64', 'lz-string']);

/** Clients that send LZ-string send single events; unpacking much more would hold everybody up. */
const LZ_MAX_LENGTH = 2_097_152;

/** Old clients pack base64 in base64. */
const BASE64_LAYERS = 2;

/**
 * The JSON of an evaluation or capture request, whatever way the SDK packed it: JSON; gzip told by
 * the query, the header or its first bytes; base64; a form whose field `data` is base64 or JSON;
 * for capture also LZ-string. Throws DecodeError or BodyTooLargeError.
 */
export function decodeIngestBody(
  headers: IncomingHttpHeaders,
  payload: Buffer,
  options: IngestOptions,
): unknown {
  const mediaType = mediaTypeOf(headers);
  if (options.isLenient !== true && !ACCEPTED_INGEST_TYPES.has(mediaType)) {
    throw new DecodeError(`unsupported content type: ${mediaType}`);
  }
  if (options.isUnsupported === true) throw new DecodeError('Unsupported compression type');
  const bytes = isGzip(payload) ? inflate(payload, options.inflatedMaxBytes) : payload;
  const text = stripByteOrderMark(bytes.toString('utf8'));
  if (mediaType === 'application/x-www-form-urlencoded' && options.isFormGzipRefused === true) {
    throw new DecodeError('Gzip compression not supported for form-urlencoded data');
  }
  const isForm =
    mediaType === 'application/x-www-form-urlencoded' ||
    (!text.startsWith('{') && FORM_START.test(text));
  const compression = options.compression ?? '';
  if (isForm) return parseForm(text, options, compression);
  const named = compression === '' ? (headers['content-encoding'] ?? '') : compression;
  return parsePacked(text, options, named);
}

function parseForm(text: string, options: IngestOptions, compression: string): unknown {
  if (!FORM_START.test(text)) {
    try {
      return parsePacked(decodeFormValue(text), options, compression);
    } catch (error) {
      if (error instanceof BodyTooLargeError) throw error;
      throw new DecodeError('expected form data in POST request payload');
    }
  }
  const data = readFormField(text, 'data');
  if (data === null) throw new DecodeError('expected form data in POST request payload');
  const named = compression === '' ? readFormField(text, 'compression') : null;
  return parsePacked(data, options, named ?? compression);
}

function readFormField(text: string, name: string): string | null {
  const pair = text.split('&').find((candidate) => candidate.startsWith(`${name}=`));
  return pair === undefined ? null : decodeFormValue(pair.slice(name.length + 1));
}

/** A plus sign stays: SDKs forget to escape it, and in base64 it is a digit and not a space. */
function decodeFormValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new DecodeError('Invalid UTF-8 in form data');
  }
}

function parsePacked(text: string, options: IngestOptions, compression: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const value = tryParseJson(replaceNonFinite(text));
    if (value !== undefined) return value;
    if (options.isLenient === true && LZ_NAMES.has(compression.toLowerCase())) {
      return parseJson(unpackLz(text, options.inflatedMaxBytes));
    }
    let inner = unpackBase64(text, options.inflatedMaxBytes);
    for (let layer = 0; inner !== null && layer < BASE64_LAYERS; layer += 1) {
      const decoded = tryParseJson(replaceNonFinite(inner));
      if (decoded !== undefined) return decoded;
      inner = unpackBase64(inner, options.inflatedMaxBytes);
    }
    throw error;
  }
}

/** The text inside of base64, gzip around it taken off; null for what is no base64. */
function unpackBase64(text: string, maxBytes: number): string | null {
  const bytes = decodeBase64(text);
  if (bytes === null) return null;
  const inner = isGzip(bytes) ? inflate(bytes, maxBytes) : bytes;
  return stripByteOrderMark(inner.toString('utf8'));
}

function unpackLz(text: string, maxLength: number): string {
  if (text.length > LZ_MAX_LENGTH) throw new BodyTooLargeError(LZ_MAX_LENGTH);
  const digits = text.replaceAll('%3D', '=').replaceAll(' ', '+');
  const unpacked = decompressLz(digits, maxLength);
  if ('text' in unpacked) return stripByteOrderMark(unpacked.text);
  if (unpacked.failure === 'too long') throw new BodyTooLargeError(maxLength);
  throw new DecodeError('the lz64 data is damaged');
}

function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

function decodeBase64(text: string): Buffer | null {
  const digits = text.trim().replaceAll('%3D', '=').replaceAll(' ', '+');
  return BASE64.test(digits) ? Buffer.from(digits, 'base64') : null;
}
