import type { Eventually } from '../../domain/common/eventually.ts';
import type { LargeWork } from '../../domain/common/large-work.ts';
import type { WireRequest } from '../wire/wire.ts';
import type { BodyBounds } from './body-bounds.ts';

/** What decoding works with beside the request. */
export interface Decoding {
  readonly bounds: BodyBounds;
  readonly largeWork: LargeWork;
}

/**
 * Turns the payload of a request into the value that the contract describes: `undefined` for none.
 * What is small is there at once. Throws or rejects with DecodeFault.
 */
export type DecodeBody = (request: WireRequest, decoding: Decoding) => Eventually<unknown>;

/** Waits for the request's turn of large work; one whose client has left gets none. */
export function awaitTurn(request: WireRequest, largeWork: LargeWork): Promise<void> {
  return largeWork.enter(request, () => request.peer.destroyed === true);
}
