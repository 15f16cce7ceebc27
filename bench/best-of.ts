/** Enough for the compiler, which on a busy machine comes late. */
const WARM_UP_CPU_MS = 400;
/** Shorter than the turn that a busy machine gives a process. */
const SLICE_MS = 2;
const ROUNDS = 300;
/** Of all slices, the one that a tenth were faster than. */
const QUANTILE = 0.1;
const MICROSECONDS_PER_MS = 1_000;

/** Something to be measured; `work` does a piece of work as many times as it says. */
export interface Contender {
  readonly work: () => void;
  readonly times: number;
}

/**
 * Microseconds that one piece of work takes, for each contender. They take turns, in many short
 * slices of which the fast ones count: what else the machine does can only make a slice slower.
 */
export function bestOf(contenders: readonly Contender[]): number[] {
  const slices = contenders.map((): number[] => []);
  for (const contender of contenders) warmUp(contender);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, contender] of contenders.entries()) slices[at]?.push(runSlice(contender));
  }
  return slices.map((each) => {
    each.sort((left, right) => left - right);
    return each[Math.floor(each.length * QUANTILE)] ?? 0;
  });
}

function warmUp({ work }: Contender): void {
  const before = process.cpuUsage();
  let used = 0;
  while (used < WARM_UP_CPU_MS * MICROSECONDS_PER_MS) {
    work();
    const { user, system } = process.cpuUsage(before);
    used = user + system;
  }
}

function runSlice({ work, times }: Contender): number {
  const startedAt = performance.now();
  let pieces = 0;
  let elapsedMs = 0;
  while (elapsedMs < SLICE_MS) {
    work();
    pieces += times;
    elapsedMs = performance.now() - startedAt;
  }
  return (elapsedMs * MICROSECONDS_PER_MS) / pieces;
}
