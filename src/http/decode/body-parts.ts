import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';

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

/** How deep JSON may be nested: far deeper than anybody means, and safe for recursive functions. */
const DEPTH_MAX = 128;

/** The media type that the request names, without its parameters; empty when it names none. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  const text = headers['content-type'] ?? '';
  if (text === '' || text === 'application/json') return text;
  const [mediaType = ''] = text.split(';');
  return mediaType.trim().toLowerCase();
}

/** Bytes decide, not the header: browsers send gzip without one, and proxies inflate in between. */
export function isGzip(bytes: Buffer): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** The bytes inside of gzip. Throws BodyTooLargeError or DecodeError. */
export function inflate(bytes: Buffer, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLargeError(maxBytes);
    throw new DecodeError('the gzip data is damaged');
  }
}

/** The text of UTF-8 without a byte order mark. Throws DecodeError. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new DecodeError('the body is not UTF-8');
  }
}

/** The text without the mark that some clients put before it. */
export function stripByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The value of JSON text. Throws DecodeError. */
export function parseJson(text: string): unknown {
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
