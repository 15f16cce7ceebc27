import type { BodyBounds } from './body-bounds.ts';
import { type DecodeFault, tooDeep, tooManyKeys, tooManyValues } from './decode-fault.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The bounds that are about JSON. */
export type JsonBounds = Pick<BodyBounds, 'maxDepth' | 'maxValues' | 'maxKeys'>;

/**
 * Counts the values of JSON text and how deep it nests without building anything: a value takes many
 * times its bytes, and functions that walk it are recursive. Works piece by piece.
 *
 * Counted are commas and opening brackets, which are never fewer than the values but one, and for
 * the keys colons and opening braces.
 */
export class JsonMeter {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 1;
  #keys = 0;
  #isInText = false;
  /** Bytes at the start of the next piece that belong to an escape. */
  #skip = 0;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** Looks at the bytes from `from` up to `to`; gives the first bound that is broken, or null. */
  feed(bytes: Uint8Array, from: number, to: number): DecodeFault | null {
    const { maxDepth, maxValues, maxKeys } = this.#bounds;
    let depth = this.#depth;
    let values = this.#values;
    let keys = this.#keys;
    let isInText = this.#isInText;
    let at = from + this.#skip;
    for (; at < to; at += 1) {
      const code = bytes[at];
      if (isInText) {
        if (code === BACKSLASH) at += 1;
        else if (code === QUOTE) isInText = false;
      } else if (code === QUOTE) isInText = true;
      else if (code === COMMA) values += 1;
      else if (code === COLON) keys += 1;
      else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        values += 1;
        depth += 1;
        if (code === OPEN_OBJECT) keys += 1;
        if (depth > maxDepth) return tooDeep();
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    }
    this.#skip = at - to;
    this.#depth = depth;
    this.#values = values;
    this.#keys = keys;
    this.#isInText = isInText;
    if (values > maxValues) return tooManyValues(maxValues);
    return keys > maxKeys ? tooManyKeys(maxKeys) : null;
  }
}

/** What `[` and `{` are, and no other byte is, apart from the one bit in which they differ. */
const OPENING_BITS = 0x5b;
const OPENING_MASK = 0xdf;

/**
 * Whether a meter has to look at the text at all. A byte makes at most one value or key, and each level needs
 * a bracket: nearly every request of an SDK has too few of both.
 */
export function mayBreakBounds(
  bytes: Uint8Array,
  { maxDepth, maxValues, maxKeys }: JsonBounds,
): boolean {
  const { length } = bytes;
  if (length >= Math.min(maxValues, maxKeys)) return true;
  let brackets = 0;
  for (let at = 0; at < length; at += 1) {
    if (((bytes[at] ?? 0) & OPENING_MASK) === OPENING_BITS) brackets += 1;
  }
  return brackets > maxDepth;
}
