import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one slice may keep the event loop to itself, in milliseconds. */
const SLICE_MS = 8;

/**
 * Runs work that yields where it may be interrupted, a few milliseconds in each turn of the event
 * loop, so that large work holds up nobody. Resolves with what the work returns, rejects with what
 * it throws.
 */
export async function runInSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const until = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < until);
    await nextTurn();
  }
}

/** Runs such work to its end at once. */
export function runAtOnce<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
