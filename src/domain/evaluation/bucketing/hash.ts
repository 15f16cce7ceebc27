import { hash as digest } from 'node:crypto';

const TWO_POW_28 = 2 ** 28;
const TWO_POW_60 = 2 ** 60;

/**
 * A number in [0, 1] for a text: the first 60 bits of its SHA-1 (FIPS 180-4, over UTF-8) as a
 * binary64, divided by 2^60. Both ends can occur.
 */
export function hash(input: string): number {
  // One character per digest byte: the cheapest of the one-shot encodings.
  const bytes = digest('sha1', input, 'binary');
  return toFraction(readWord(bytes, 0), readWord(bytes, 4));
}

/** The hash whose digest starts with these two 32-bit words. */
export function toFraction(first: number, second: number): number {
  // The product is exact, so that the sum rounds once, as a 60-bit integer read as binary64 does.
  return ((first >>> 0) * TWO_POW_28 + (second >>> 4)) / TWO_POW_60;
}

function readWord(bytes: string, at: number): number {
  return (
    (bytes.charCodeAt(at) << 24) |
    (bytes.charCodeAt(at + 1) << 16) |
    (bytes.charCodeAt(at + 2) << 8) |
    bytes.charCodeAt(at + 3)
  );
}
