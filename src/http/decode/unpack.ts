import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Eventually } from '../../domain/common/eventually.ts';
import { type BodyBounds, unpackedLimit } from './body-bounds.ts';
import { DecodeFault, tooDense, tooManyBytes } from './decode-fault.ts';

interface Limit {
  readonly maxOutputLength: number;
  readonly chunkSize?: number;
}

/** One way of packing bytes, taken off at once or beside the event loop. */
interface Packing {
  readonly atOnce: (bytes: Buffer, limit: Limit) => unknown;
  readonly beside: (bytes: Buffer, limit: Limit) => Promise<unknown>;
}

/** Newer versions of Node.js have zstd; those that do not answer as for any unknown encoding. */
const zstdAtOnce: unknown = Reflect.get(zlib, 'zstdDecompressSync');
const zstdBeside: unknown = Reflect.get(zlib, 'zstdDecompress');

const GZIP: Packing = { atOnce: zlib.gunzipSync, beside: promisify(zlib.gunzip) };

const PACKINGS = new Map<string, Packing>([
  ['gzip', GZIP],
  ['deflate', { atOnce: zlib.inflateSync, beside: promisify(zlib.inflate) }],
  ['br', { atOnce: zlib.brotliDecompressSync, beside: promisify(zlib.brotliDecompress) }],
  ...zstdPacking(),
]);

/** The encodings that can be taken off, as the value of `Accept-Encoding`. */
export const ACCEPTED_ENCODINGS = [...PACKINGS.keys()].join(', ');

/** What unpacks to so little is unpacked at once: it takes a fraction of a millisecond. */
const AT_ONCE_BYTES = 262_144;

/** Output is collected in pieces of this size beside the event loop. */
const CHUNK_BYTES = 262_144;

export interface Unpacking {
  readonly bounds: BodyBounds;
  /** Asked before more is unpacked than takes a moment. */
  readonly enterLargeWork: () => Eventually<void>;
}

/** Whether the encoding is one of those, or none. */
export function isAcceptedEncoding(encoding: string): boolean {
  return encoding === '' || encoding === 'identity' || PACKINGS.has(encoding);
}

/** Bytes decide, not the header: browsers send gzip without one, and proxies inflate in between. */
export function isGzip(bytes: Buffer): boolean {
  return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** The bytes inside of gzip. Throws or rejects with DecodeFault. */
export function inflate(bytes: Buffer, unpacking: Unpacking): Eventually<Buffer> {
  // The last four bytes tell the size; whoever lies there is found out by the limit.
  const told = bytes.length > 18 ? bytes.readUInt32LE(bytes.length - 4) : 0;
  return unpack('gzip', GZIP, bytes, unpacking, told);
}

/** The bytes without the encoding that was named. Throws or rejects with DecodeFault. */
export function removeEncoding(
  encoding: string,
  bytes: Buffer,
  unpacking: Unpacking,
): Eventually<Buffer> {
  const packing = PACKINGS.get(encoding);
  if (packing === undefined) return bytes;
  return encoding === 'gzip'
    ? inflate(bytes, unpacking)
    : unpack(encoding, packing, bytes, unpacking, 0);
}

function unpack(
  encoding: string,
  packing: Packing,
  bytes: Buffer,
  unpacking: Unpacking,
  told: number,
): Eventually<Buffer> {
  const limit = unpackedLimit(unpacking.bounds, bytes.length);
  if (told <= AT_ONCE_BYTES && bytes.length <= AT_ONCE_BYTES) {
    const isAll = limit <= AT_ONCE_BYTES;
    try {
      const maxOutputLength = isAll ? limit : AT_ONCE_BYTES;
      return toBuffer(packing.atOnce(bytes, { maxOutputLength }));
    } catch (error) {
      if (isAll || !(error instanceof RangeError)) {
        throw toFault(error, encoding, unpacking.bounds, limit);
      }
    }
  }
  return unpackBeside(encoding, packing, bytes, unpacking, limit);
}

async function unpackBeside(
  encoding: string,
  packing: Packing,
  bytes: Buffer,
  { bounds, enterLargeWork }: Unpacking,
  limit: number,
): Promise<Buffer> {
  await enterLargeWork();
  try {
    const options = { maxOutputLength: limit, chunkSize: CHUNK_BYTES };
    return toBuffer(await packing.beside(bytes, options));
  } catch (error) {
    throw toFault(error, encoding, bounds, limit);
  }
}

function toBuffer(unpacked: unknown): Buffer {
  if (Buffer.isBuffer(unpacked)) return unpacked;
  throw new Error('Unpacking gave no bytes.');
}

function toFault(error: unknown, encoding: string, bounds: BodyBounds, limit: number): DecodeFault {
  if (!(error instanceof RangeError)) {
    return new DecodeFault('encoding', `the ${encoding} data is damaged`);
  }
  return limit < bounds.maxUnpackedBytes
    ? tooDense(bounds.maxRatio)
    : tooManyBytes(bounds.maxUnpackedBytes);
}

function zstdPacking(): [string, Packing][] {
  if (typeof zstdAtOnce !== 'function' || typeof zstdBeside !== 'function') return [];
  const beside = (bytes: Buffer, limit: Limit) =>
    new Promise((resolve, reject) => {
      zstdBeside(bytes, limit, (error: Error | null, unpacked: unknown) =>
        error === null ? resolve(unpacked) : reject(error),
      );
    });
  return [['zstd', { atOnce: (bytes, limit) => zstdAtOnce(bytes, limit), beside }]];
}
