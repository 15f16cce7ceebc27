import type { IncomingHttpHeaders } from 'node:http';
import { andThen, type Eventually } from '../../domain/common/eventually.ts';
import { mediaTypeOf } from '../wire/media-type.ts';
import type { WireRequest } from '../wire/wire.ts';
import type { BodyBounds } from './body-bounds.ts';
import { awaitTurn, type DecodeBody, type Decoding } from './body-decoder.ts';
import { DecodeFault, tooManyBytes } from './decode-fault.ts';
import { decodeFormValue, readFormField, startsAsForm } from './form.ts';
import { decompressLz } from './lz-string.ts';
import { AT_ONCE_BYTES, readJson } from './read-json.ts';
import { inflate, isGzip } from './unpack.ts';

/** How the bytes of one request are to be read. */
interface Packed {
  readonly bounds: BodyBounds;
  readonly isLenient: true;
  readonly enterLargeWork: () => Promise<void>;
  /** Whether LZ-string may be inside, as capture takes it. */
  readonly takesLz: boolean;
}

const FORM_TYPE = 'application/x-www-form-urlencoded';
const EVALUATION_TYPES = new Set(['', 'application/json', 'text/plain', FORM_TYPE]);
const EVALUATION_COMPRESSIONS = new Set(['', 'base64', 'gzip', 'gzip-js']);
const LZ_NAMES = new Set(['lz64', 'lz-string']);

/** Old clients pack base64 in base64. */
const BASE64_LAYERS = 2;

/** Clients that send base64 send single events and small batches. */
const BASE64_MAX_BYTES = 4_194_304;

/** LZ-string is sent by very old clients, for single events. It is unpacked in one go. */
const LZ_MAX_BYTES = 262_144;
const LZ_MAX_UNPACKED = 1_048_576;

/**
 * The JSON of an evaluation request, whatever way the SDK packed it: JSON; gzip, told by its first
 * bytes; base64; a form whose field `data` is base64 or JSON.
 */
export const decodeEvaluation: DecodeBody = (request, decoding) => {
  const mediaType = mediaTypeOf(request.headers);
  if (!EVALUATION_TYPES.has(mediaType)) {
    throw new DecodeFault('encoding', `unsupported content type: ${mediaType}`);
  }
  const compression = request.query.compression?.toLowerCase() ?? '';
  if (!EVALUATION_COMPRESSIONS.has(compression)) {
    throw new DecodeFault('encoding', 'Unsupported compression type');
  }
  const packed = packedOf(request, decoding, false);
  return andThen(inflated(request.payload, packed), (bytes) => {
    if (mediaType === FORM_TYPE && compression.startsWith('gzip')) {
      const reason = 'Gzip compression not supported for form-urlencoded data';
      throw new DecodeFault('encoding', reason);
    }
    return readUnpacked(bytes, mediaType, '', packed);
  });
};

/**
 * The JSON of a capture request: as for evaluation, with any media type, in the query's `data`, and
 * in LZ-string where the query, the form or the header says so.
 */
export const decodeCapture: DecodeBody = (request, decoding) => {
  const { data = '', compression = '' } = request.query;
  const headers: IncomingHttpHeaders = data === '' ? request.headers : {};
  const payload = data === '' ? request.payload : Buffer.from(data);
  const packed = packedOf(request, decoding, true);
  const named = compression === '' ? (headers['content-encoding'] ?? '') : compression;
  return andThen(inflated(payload, packed), (bytes) =>
    readUnpacked(bytes, mediaTypeOf(headers), named, packed, compression),
  );
};

function packedOf(request: WireRequest, decoding: Decoding, takesLz: boolean): Packed {
  const { bounds, largeWork } = decoding;
  return { bounds, isLenient: true, enterLargeWork: () => awaitTurn(request, largeWork), takesLz };
}

function inflated(bytes: Buffer, packed: Packed): Eventually<Buffer> {
  return isGzip(bytes) ? inflate(bytes, packed) : bytes;
}

/** Reads what was inflated. Inside a form the header's word on the packing does not count. */
function readUnpacked(
  bytes: Buffer,
  mediaType: string,
  named: string,
  packed: Packed,
  compression = named,
): Eventually<unknown> {
  const text = withoutMark(bytes);
  if (mediaType !== FORM_TYPE && !startsAsForm(text)) return readPacked(text, packed, named);
  if (!startsAsForm(text)) return readNamelessForm(text, packed, compression);
  const data = readFormField(text, 'data');
  if (data === null) throw noFormData();
  const told = compression === '' ? readFormField(text, 'compression') : null;
  return readPacked(data, packed, told?.toString('latin1') ?? compression);
}

/** Some clients say that they send a form and send its one value only. */
function readNamelessForm(text: Buffer, packed: Packed, compression: string): Eventually<unknown> {
  const refuse = (error: unknown): never => {
    if (error instanceof DecodeFault && error.kind === 'too_large') throw error;
    if (!(error instanceof DecodeFault)) throw error;
    throw noFormData();
  };
  try {
    const value = readPacked(decodeFormValue(text), packed, compression);
    return value instanceof Promise ? value.catch(refuse) : value;
  } catch (error) {
    return refuse(error);
  }
}

function noFormData(): DecodeFault {
  return new DecodeFault('encoding', 'expected form data in POST request payload');
}

/** JSON, or what it is packed in. */
function readPacked(
  bytes: Buffer,
  packed: Packed,
  compression: string,
  layersLeft = BASE64_LAYERS,
  outerFault: DecodeFault | null = null,
): Eventually<unknown> {
  if (startsAsJson(bytes)) return readJson(bytes, packed);
  let fault = outerFault;
  if (bytes.length <= AT_ONCE_BYTES) {
    try {
      return readJson(bytes, packed);
    } catch (error) {
      if (!(error instanceof DecodeFault) || error.kind === 'too_large') throw error;
      fault ??= error;
    }
  }
  fault ??= new DecodeFault('syntax', 'the body is neither JSON nor base64 of it');
  if (packed.takesLz && LZ_NAMES.has(compression.toLowerCase())) return readLz(bytes, packed);
  const inner = layersLeft === 0 ? null : decodeBase64(bytes);
  if (inner === null) throw fault;
  const next = (unpacked: Buffer) =>
    readPacked(withoutMark(unpacked), packed, '', layersLeft - 1, fault);
  if (bytes.length <= AT_ONCE_BYTES) return andThen(inflated(inner, packed), next);
  return packed.enterLargeWork().then(() => andThen(inflated(inner, packed), next));
}

function readLz(bytes: Buffer, packed: Packed): Eventually<unknown> {
  if (bytes.length > LZ_MAX_BYTES) throw tooManyBytes(LZ_MAX_BYTES);
  const digits = bytes.toString('latin1').replaceAll('%3D', '=').replaceAll(' ', '+');
  const unpacked = decompressLz(digits, LZ_MAX_UNPACKED);
  if ('text' in unpacked) return readJson(Buffer.from(unpacked.text), packed);
  if (unpacked.failure === 'too long') throw tooManyBytes(LZ_MAX_UNPACKED);
  throw new DecodeFault('encoding', 'the lz64 data is damaged');
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The bytes that base64 stands for; null for what is no base64. */
function decodeBase64(bytes: Buffer): Buffer | null {
  if (bytes.length > BASE64_MAX_BYTES) throw tooManyBytes(BASE64_MAX_BYTES);
  const text = bytes.toString('latin1').trim().replaceAll('%3D', '=').replaceAll(' ', '+');
  return BASE64.test(text) ? Buffer.from(text, 'base64') : null;
}

const QUOTE = 0x22;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Whether the first character is one that no base64 has. */
function startsAsJson(bytes: Buffer): boolean {
  const first = bytes[endOfBlanks(bytes)];
  return first === QUOTE || first === OPEN_LIST || first === OPEN_OBJECT;
}

/** Where the first byte is that is no blank: a body may be nothing but blanks, megabytes of them. */
function endOfBlanks(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at];
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
  return bytes.length;
}

function withoutMark(bytes: Buffer): Buffer {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasMark ? bytes.subarray(3) : bytes;
}
