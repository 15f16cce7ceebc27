import zlib from 'node:zlib';
import { BodyTooLargeError, DecodeError } from './body-parts.ts';

type Unpack = (bytes: Buffer, options: { readonly maxOutputLength: number }) => unknown;

/** Newer versions of Node.js have zstd; those that do not answer as for any unknown encoding. */
const zstdDecompress: unknown = Reflect.get(zlib, 'zstdDecompressSync');

const UNPACK = new Map<string, Unpack>([
  ['gzip', zlib.gunzipSync],
  ['deflate', zlib.inflateSync],
  ['br', zlib.brotliDecompressSync],
  ...(typeof zstdDecompress === 'function'
    ? [['zstd', (bytes, options) => zstdDecompress(bytes, options)] satisfies [string, Unpack]]
    : []),
]);

/** The encodings that can be taken off, as the value of `Accept-Encoding`. */
export const ACCEPTED_ENCODINGS = [...UNPACK.keys()].join(', ');

/** Whether the encoding is one of those, or none. */
export function isAcceptedEncoding(encoding: string): boolean {
  return encoding === '' || encoding === 'identity' || UNPACK.has(encoding);
}

/** The bytes without the encoding that was named. Throws DecodeError or BodyTooLargeError. */
export function removeEncoding(encoding: string, bytes: Buffer, maxBytes: number): Buffer {
  const unpack = UNPACK.get(encoding);
  if (unpack === undefined) return bytes;
  try {
    const unpacked = unpack(bytes, { maxOutputLength: maxBytes });
    if (Buffer.isBuffer(unpacked)) return unpacked;
  } catch (error) {
    if (error instanceof RangeError) throw new BodyTooLargeError(maxBytes);
  }
  throw new DecodeError(`the ${encoding} data is damaged`);
}
