import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { DomainError } from '../domain/errors.ts';

/**
 * A body that cannot be decoded. `reason` is worded by the operation's own error form; `isSyntax`
 * tells JSON faults from faults of the encoding around it.
 */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  readonly reason: string;
  readonly isSyntax: boolean;

  constructor(reason: string, isSyntax = false) {
    super(reason);
    this.reason = reason;
    this.isSyntax = isSyntax;
  }
}

/** A body that is larger than allowed, raw or inflated; `limitBytes` is the limit that it broke. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
  readonly limitBytes: number;

  constructor(limitBytes: number) {
    super(`The body is larger than ${limitBytes} bytes.`);
    this.limitBytes = limitBytes;
  }
}

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
    throw new DomainError(
      'unsupported_media_type',
      `Unsupported media type "${headers['content-type']}" in request.`,
    );
  }
  try {
    const bytes = isGzip(payload) ? inflate(payload, MANAGEMENT_MAX_BYTES) : payload;
    return parseJson(decodeUtf8(bytes));
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw toTooLarge(error);
    if (error instanceof DecodeError) {
      throw new DomainError('malformed', `JSON parse error - ${error.reason}`);
    }
    throw error;
  }
}

/** A body over the limit as the management API tells it. */
export function toTooLarge(error: BodyTooLargeError): DomainError {
  return new DomainError('too_large', `The request body is larger than ${error.limitBytes} bytes.`);
}

/** What the query says about the packing of a body. */
export interface IngestPacking {
  /** A packing that the operation does not know. */
  readonly isUnsupported?: boolean;
  /** The body is said to be gzip, which cannot be inside a form. */
  readonly isFormGzipRefused?: boolean;
}

/** How deep JSON may be nested: far deeper than anybody means, and safe for recursive functions. */
const DEPTH_MAX = 128;

export interface IngestOptions extends IngestPacking {
  /** The most bytes after inflating. */
  readonly inflatedMaxBytes: number;
}

const ACCEPTED_INGEST_TYPES = new Set([
  '',
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
]);

const FORM_START = /^(data|ver|_|ip|compression)=/;

/**
 * The JSON of an evaluation or capture request, whatever way the SDK packed it: JSON; gzip told by
 * the query, the header or its first bytes; base64; a form whose field `data` is base64 or JSON.
 * Throws DecodeError or BodyTooLargeError.
 */
export function decodeIngestBody(
  headers: IncomingHttpHeaders,
  payload: Buffer,
  options: IngestOptions,
): unknown {
  const mediaType = mediaTypeOf(headers);
  if (!ACCEPTED_INGEST_TYPES.has(mediaType)) {
    throw new DecodeError(`unsupported content type: ${mediaType}`);
  }
  if (options.isUnsupported === true) throw new DecodeError('Unsupported compression type');
  const bytes = isGzip(payload) ? inflate(payload, options.inflatedMaxBytes) : payload;
  const text = stripByteOrderMark(bytes.toString('utf8'));
  if (mediaType === 'application/x-www-form-urlencoded' && options.isFormGzipRefused === true) {
    throw new DecodeError('Gzip compression not supported for form-urlencoded data');
  }
  const isForm = mediaType === 'application/x-www-form-urlencoded' || FORM_START.test(text);
  return isForm ? parseForm(text, options) : parseJsonOrBase64(text, options);
}

function parseForm(text: string, options: IngestOptions): unknown {
  if (!FORM_START.test(text)) {
    try {
      return parseJsonOrBase64(decodeFormValue(text), options);
    } catch (error) {
      if (error instanceof BodyTooLargeError) throw error;
      throw new DecodeError('expected form data in POST request payload');
    }
  }
  for (const pair of text.split('&')) {
    if (!pair.startsWith('data=')) continue;
    return parseJsonOrBase64(decodeFormValue(pair.slice('data='.length)), options);
  }
  throw new DecodeError('expected form data in POST request payload');
}

/** A plus sign stays: SDKs forget to escape it, and in base64 it is a digit and not a space. */
function decodeFormValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new DecodeError('Invalid UTF-8 in form data');
  }
}

function parseJsonOrBase64(text: string, options: IngestOptions): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const value = tryParseJson(replaceNonFinite(text));
    if (value !== undefined) return value;
    const bytes = decodeBase64(text);
    if (bytes === null) throw error;
    const inner = isGzip(bytes) ? inflate(bytes, options.inflatedMaxBytes) : bytes;
    const decoded = tryParseJson(replaceNonFinite(stripByteOrderMark(inner.toString('utf8'))));
    if (decoded === undefined) throw error;
    return decoded;
  }
}

const TEXT_OR_NON_FINITE = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/** Numbers that JSON does not have, as some languages print them, become null. */
function replaceNonFinite(text: string): string {
  if (!text.includes('NaN') && !text.includes('Infinity')) return text;
  return text.replace(TEXT_OR_NON_FINITE, (found) => (found.startsWith('"') ? found : 'null'));
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

function mediaTypeOf(headers: IncomingHttpHeaders): string {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';');
  return mediaType.trim().toLowerCase();
}

/** Bytes decide, not the header: browsers send gzip without one, and proxies inflate in between. */
function isGzip(bytes: Buffer): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function inflate(bytes: Buffer, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLargeError(maxBytes);
    throw new DecodeError('the gzip data is damaged');
  }
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new DecodeError('the body is not UTF-8');
  }
}

function stripByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new DecodeError('the JSON is nested too deeply');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : 'invalid JSON', true);
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Whether JSON text nests deeper than is allowed, found out without building its value. */
function isTooDeep(text: string): boolean {
  if (text.length <= 2 * DEPTH_MAX) return false;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > DEPTH_MAX) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}
