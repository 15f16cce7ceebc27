import { benchEngine, benchHashes, benchMemory, benchOneRequested } from './engine.ts';

const US_AT_100_FLAGS = 35;
/** How much more a flag may cost among 10,000 than among 10. */
const FLATNESS = 1.5;

/** Prints the engine's figures and returns the targets that were missed. */
export function reportEngine(): string[] {
  const misses: string[] = [];
  console.log('Engine (one core)');
  const figures = benchEngine();
  for (const { flags, microsecondsPerEvaluation, microsecondsPerFlag } of figures) {
    console.log(
      `  ${pad(flags)} flags  ${pad(Math.round(1_000_000 / microsecondsPerEvaluation))} evaluations/s  ` +
        `${microsecondsPerEvaluation.toFixed(2)} us each, ${microsecondsPerFlag.toFixed(3)} us per flag`,
    );
    if (flags === 100 && microsecondsPerEvaluation >= US_AT_100_FLAGS) {
      misses.push(`engine ${microsecondsPerEvaluation.toFixed(1)} us at 100 flags`);
    }
  }
  const perFlag = (flags: number) =>
    figures.find((figure) => figure.flags === flags)?.microsecondsPerFlag ?? 0;
  const growth = perFlag(10_000) / perFlag(10);
  console.log(`  cost per flag at 10,000 flags: ${growth.toFixed(2)} times that at 10`);
  if (growth > FLATNESS) misses.push(`cost per flag grows ${growth.toFixed(2)} times`);

  const requested = benchOneRequested();
  console.log(
    `  1 requested flag of 10,000: ${requested.many.toFixed(2)} us, of 1: ${requested.few.toFixed(2)} us`,
  );
  const hashes = benchHashes();
  console.log(
    `  hashes: ${millions(hashes.lanes)} in lanes, ${millions(hashes.alone)} with node:crypto, ` +
      `${(hashes.lanes / hashes.alone).toFixed(1)} times`,
  );
  const memory = benchMemory();
  console.log(
    `  memory per flag of 10,000: ${memory.stored} bytes as stored, ${memory.prepared} more when ` +
      `prepared, ${memory.evaluated} more with an answer`,
  );
  return misses;
}

function millions(perSecond: number): string {
  return `${(perSecond / 1_000_000).toFixed(2)} million/s`;
}

function pad(value: number): string {
  return String(value).padStart(8);
}
