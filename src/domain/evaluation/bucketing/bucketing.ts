import { type Draw, DrawMaker } from './draws.ts';

const HOLDOUT_DRAW = new DrawMaker().make('holdout-', '', 'holdout');

/** Whether the rollout admits an identifier: the bound is inclusive, an empty one's hash is 0. */
export function isInRollout(draw: Draw, identifier: string, share: number): boolean {
  return (identifier === '' ? 0 : draw.hash(identifier)) <= share;
}

/**
 * Position of the variant that an identifier draws, or -1 where the shares leave a remainder.
 * `thresholds` are running sums; the bound is exclusive. An empty identifier has the hash 0.
 */
export function drawVariant(draw: Draw, identifier: string, thresholds: readonly number[]): number {
  const drawn = identifier === '' ? 0 : draw.hash(identifier);
  for (let at = 0; at < thresholds.length; at++) {
    if (drawn < (thresholds[at] ?? 0)) return at;
  }
  return -1;
}

/**
 * Whether a holdout of this share (percentage / 100) keeps an identifier out. The draw is the same
 * for every holdout; unlike a rollout it does hash the empty identifier.
 */
export function isInHoldout(identifier: string, share: number): boolean {
  return HOLDOUT_DRAW.hash(identifier) <= share;
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
