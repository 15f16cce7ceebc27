import { benchChanges } from './changes.ts';
import type { BenchServer } from './database.ts';

const FLAGS_OF_LARGE_PROJECT = 10_000;
const CHANGE_MS = 1_000;

/** Prints how soon a change is served in a large project; returns the target that was missed. */
export async function reportChanges(server: BenchServer): Promise<string[]> {
  const change = await benchChanges(server, FLAGS_OF_LARGE_PROJECT);
  const [idle = null, loaded = null, after = null] = change.memoryMb;
  const kilobytesPerFlag = (((loaded ?? 0) - (idle ?? 0)) * 1_024) / change.flags;
  console.log(
    `\nOne of ${change.flags} flags changed until served: median ${change.medianMs.toFixed(0)} ms, ` +
      `worst ${change.worstMs.toFixed(0)} ms; memory without flags ${megabytes(idle)}, ` +
      `with them ${megabytes(loaded)} (${kilobytesPerFlag.toFixed(1)} KB each), ` +
      `after the changes ${megabytes(after)}`,
  );
  return change.medianMs < CHANGE_MS ? [] : [`change served in ${change.medianMs.toFixed(0)} ms`];
}

function megabytes(memoryMb: number | null): string {
  return `${memoryMb?.toFixed(0) ?? '?'} MB`;
}
