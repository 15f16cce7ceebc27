import { evaluateFlags } from '../src/domain/evaluation/evaluate-flags.ts';
import { prepareSnapshot } from '../src/domain/evaluation/prepare.ts';
import { aCondition, aContext, aFlag, aProject, compileTestPattern } from '../test/builders.ts';

const FLAG_COUNTS = [1, 10, 100, 1000, 10_000];
const WARM_UP_MS = 200;
const MEASURED_MS = 500;
const PERSONS = 64;

/** Speed of evaluating every flag of a project for one person. */
export interface EngineFigure {
  readonly flags: number;
  readonly evaluationsPerSecond: number;
  readonly microsecondsPerEvaluation: number;
}

/** Measures projects whose flags each have one text condition and a 50 % rollout; one core. */
export function benchEngine(): EngineFigure[] {
  return FLAG_COUNTS.map(measure);
}

function measure(flags: number): EngineFigure {
  const snapshot = prepareSnapshot(
    aProject({
      flags: Array.from({ length: flags }, (_, at) =>
        aFlag({
          id: at + 1,
          key: `bench-flag-${at}`,
          filters: {
            groups: [
              aCondition({
                properties: [{ key: `plan_${at % 20}`, type: 'person', value: 'Pro' }],
                rollout_percentage: 50,
              }),
            ],
          },
        }),
      ),
    }),
    compileTestPattern,
  );
  const personProperties = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`plan_${at}`, 'pro']),
  );
  const contexts = Array.from({ length: PERSONS }, (_, at) =>
    aContext({ distinctId: `0190a1b2-c3d4-7e8f-9a0b-${at}`, personProperties }),
  );
  const now = new Date();
  let enabled = 0;
  const runFor = (durationMs: number) => {
    const startedAt = performance.now();
    let evaluations = 0;
    let elapsedMs = 0;
    while (elapsedMs < durationMs) {
      for (const context of contexts) {
        const { outcomes } = evaluateFlags(snapshot, context, { now });
        if (outcomes[0]?.enabled) enabled += 1;
        evaluations += 1;
      }
      elapsedMs = performance.now() - startedAt;
    }
    return { evaluations, elapsedMs };
  };
  runFor(WARM_UP_MS);
  const { evaluations, elapsedMs } = runFor(MEASURED_MS);
  if (enabled === 0) throw new Error('Nobody was admitted: the measurement is void.');
  return {
    flags,
    evaluationsPerSecond: Math.round((evaluations * 1000) / elapsedMs),
    microsecondsPerEvaluation: (elapsedMs * 1000) / evaluations,
  };
}
