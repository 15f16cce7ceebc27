/**
 * How large a body may be: the row of one kind of body in the contract's table `x-body-bounds`. Each
 * is looked at before the work that it bounds is done.
 */
export interface BodyBounds {
  /** The most bytes as sent. */
  readonly maxBytes: number;
  /** The most bytes after unpacking. */
  readonly maxUnpackedBytes: number;
  /** How many times its size a body may unpack to, above what every body may unpack to. */
  readonly maxRatio: number;
  /** The most values of the JSON, those in arrays and objects counted one by one. */
  readonly maxValues: number;
  /** The most objects of the JSON and keys in them, together: what reads them costs more than for other values. */
  readonly maxKeys: number;
  /** How deep arrays and objects may be nested. */
  readonly maxDepth: number;
}

/** Any body may unpack to so many bytes, however small it is. */
export const UNPACKED_FREE_BYTES = 524_288;

/** The most bytes that a body of this size may unpack to. */
export function unpackedLimit(bounds: BodyBounds, bytes: number): number {
  return Math.min(bounds.maxUnpackedBytes, Math.max(UNPACKED_FREE_BYTES, bytes * bounds.maxRatio));
}
