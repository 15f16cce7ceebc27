import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives back to the system what nothing needs any more: the start and large requests leave tens of
 * megabytes of garbage, which V8 would keep until there is traffic. Holds everything up for some tens
 * of milliseconds.
 */
export function releaseMemory(): void {
  // V8 has a function for this, which it shows to contexts that are made while it is told to.
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') return;
  // Pages that the first one empties are given back by the second.
  for (let times = 0; times < 2; times += 1) Reflect.apply(collect, undefined, []);
}
