import type { LoadGenerator } from './load.ts';
import { createOwnGenerator } from './own-generator.ts';
import { CORES_FOR_LOAD } from './processes.ts';
import { createWrk, hasWrk } from './wrk.ts';

const MOST_THREADS = 4;

/** wrk where it is installed, else our own; `own` asks for our own. It takes the cores that the server leaves. */
export function chooseGenerator(preferred: string | undefined): LoadGenerator {
  const threads = Math.min(CORES_FOR_LOAD, MOST_THREADS);
  if (preferred !== undefined && preferred !== 'wrk' && preferred !== 'own') {
    throw new Error('--generator is wrk or own.');
  }
  return preferred !== 'own' && hasWrk() ? createWrk(threads) : createOwnGenerator(threads);
}
