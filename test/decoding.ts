import type { IncomingHttpHeaders } from 'node:http';
import { LargeWork } from '../src/domain/common/large-work.ts';
import { readBodyKinds } from '../src/http/contract/body-kinds.ts';
import type { BodyBounds } from '../src/http/decode/body-bounds.ts';
import type { DecodeBody } from '../src/http/decode/body-decoder.ts';
import type { WireRequest } from '../src/http/wire/wire.ts';
import { EMPTY_REQUEST } from './http-pipelines.ts';
import { ownContract } from './own-contract.ts';

const kinds = readBodyKinds(ownContract().definition);

/** The bounds that the contract sets for a kind of body. */
export function boundsOf(kind: string): BodyBounds {
  const bounds = kinds.get(kind);
  if (bounds === undefined) throw new Error(`There is no kind of body ${kind}.`);
  return bounds;
}

/** Decodes a body. Rejects with what the decoder throws at once, too. */
export async function decode(
  decoder: DecodeBody,
  headers: IncomingHttpHeaders,
  payload: Buffer,
  { query = {}, bounds = boundsOf('json') }: DecodingParts = {},
): Promise<unknown> {
  const request: WireRequest = { ...EMPTY_REQUEST, headers, payload, query };
  return decoder(request, { bounds, largeWork: new LargeWork() });
}

interface DecodingParts {
  readonly query?: WireRequest['query'];
  readonly bounds?: BodyBounds;
}
