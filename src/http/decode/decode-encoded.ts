import { andThen } from '../../domain/common/eventually.ts';
import type { WireRequest } from '../wire/wire.ts';
import { awaitTurn, type DecodeBody } from './body-decoder.ts';
import { readJson } from './read-json.ts';
import { removeEncoding } from './unpack.ts';

/** The JSON of capture v1, under the encoding that `Content-Encoding` names. */
export const decodeEncoded: DecodeBody = (request, { bounds, largeWork }) => {
  const enterLargeWork = () => awaitTurn(request, largeWork);
  const bytes = removeEncoding(encodingOf(request), request.payload, { bounds, enterLargeWork });
  return andThen(bytes, (json) => readJson(json, { bounds, isLenient: false, enterLargeWork }));
};

/** The encoding that the request names, in lower case; empty when it names none. */
export function encodingOf({ headers }: WireRequest): string {
  return (headers['content-encoding'] ?? '').trim().toLowerCase();
}
