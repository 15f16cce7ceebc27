import { isUtf8 } from 'node:buffer';
import { andThen, type Eventually } from '../../domain/common/eventually.ts';
import { mediaTypeOf } from '../wire/media-type.ts';
import type { WireRequest } from '../wire/wire.ts';
import { awaitTurn, type DecodeBody, type Decoding } from './body-decoder.ts';
import { DecodeFault } from './decode-fault.ts';
import { readJson } from './read-json.ts';
import { inflate, isGzip } from './unpack.ts';

/**
 * The JSON of a management request, in gzip or not; undefined for an empty body, whatever its media
 * type.
 */
export const decodeJson: DecodeBody = (request, decoding) => {
  if (request.payload.length === 0) return undefined;
  const mediaType = mediaTypeOf(request.headers);
  if (mediaType !== '' && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    throw unsupported(request);
  }
  const enterLargeWork = () => awaitTurn(request, decoding.largeWork);
  const { bounds } = decoding;
  return andThen(inflated(request, decoding), (bytes) =>
    readJson(bytes, { bounds, isLenient: false, enterLargeWork }),
  );
};

/** Decodes what is text of one media type, such as a CSV file, in gzip or not. */
export function decodeText(mediaType: string): DecodeBody {
  return (request, decoding) => {
    if (mediaTypeOf(request.headers) !== mediaType) throw unsupported(request);
    return andThen(inflated(request, decoding), toText);
  };
}

/** Takes no notice of the body. */
export const ignoreBody: DecodeBody = () => undefined;

function inflated(request: WireRequest, decoding: Decoding): Eventually<Buffer> {
  const { payload } = request;
  if (!isGzip(payload)) return payload;
  const enterLargeWork = () => awaitTurn(request, decoding.largeWork);
  return inflate(payload, { bounds: decoding.bounds, enterLargeWork });
}

function toText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new DecodeFault('encoding', 'the body is not UTF-8');
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function unsupported({ headers }: WireRequest): DecodeFault {
  const given = headers['content-type'] ?? '';
  return new DecodeFault('media_type', `Unsupported media type "${given}" in request.`);
}
