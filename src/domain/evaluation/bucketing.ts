import { hash as digest } from 'node:crypto';
import type { PreparedVariants } from './snapshot.ts';

const TWO_POW_8 = 2 ** 8;
const TWO_POW_60 = 2 ** 60;
const VARIANT_SALT = 'variant';
const HOLDOUT_PREFIX = 'holdout-';

/**
 * A number in [0, 1] for a text: the first 60 bits of its SHA-1 (FIPS 180-4, over UTF-8) as a
 * binary64, divided by 2^60. Both ends can occur.
 */
export function hash(input: string): number {
  // One character per digest byte: the cheapest of the one-shot encodings.
  const bytes = digest('sha1', input, 'binary');
  const high =
    ((bytes.charCodeAt(0) << 24) |
      (bytes.charCodeAt(1) << 16) |
      (bytes.charCodeAt(2) << 8) |
      bytes.charCodeAt(3)) >>>
    0;
  const middle = (bytes.charCodeAt(4) << 16) | (bytes.charCodeAt(5) << 8) | bytes.charCodeAt(6);
  const low = bytes.charCodeAt(7) >>> 4;
  // high * 2^28 is exact, so that the sum rounds once, as a 60-bit integer read as binary64 does.
  return (high * 2 ** 28 + (middle * (TWO_POW_8 / 16) + low)) / TWO_POW_60;
}

/**
 * Whether the rollout admits an identifier. `hashPrefix` is the flag key and a dot; `share` is the
 * percentage / 100. The bound is inclusive. An empty identifier has the hash 0.
 */
export function isInRollout(hashPrefix: string, identifier: string, share: number): boolean {
  return (identifier === '' ? 0 : hash(hashPrefix + identifier)) <= share;
}

/**
 * Position of the variant that an identifier draws, or -1 where the shares leave a remainder.
 * The bound is exclusive. An empty identifier has the hash 0.
 */
export function drawVariant(
  hashPrefix: string,
  identifier: string,
  variants: PreparedVariants,
): number {
  const { thresholds } = variants;
  if (thresholds.length === 0) return -1;
  const drawn = identifier === '' ? 0 : hash(hashPrefix + identifier + VARIANT_SALT);
  return thresholds.findIndex((threshold) => drawn < threshold);
}

/**
 * Whether a holdout of this share (percentage / 100) keeps an identifier out. The draw is the same
 * for every holdout; unlike a rollout it does hash the empty identifier.
 */
export function isInHoldout(identifier: string, share: number): boolean {
  return hash(HOLDOUT_PREFIX + identifier) <= share;
}

/** Running sums of variant percentages / 100, added left to right in binary64. */
export function accumulateShares(percentages: readonly number[]): number[] {
  let sum = 0;
  return percentages.map((percentage) => {
    sum += percentage / 100;
    return sum;
  });
}

/** Whether different hashes draw different variants, no variant counting as one of them. */
export function isSplitting(thresholds: readonly number[]): boolean {
  let covered = 0;
  let reachable = 0;
  for (const threshold of thresholds) {
    if (threshold > covered && covered < 1) {
      covered = threshold;
      reachable += 1;
    }
  }
  return covered < 1 ? reachable > 0 : reachable > 1;
}
