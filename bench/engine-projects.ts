import type { FlagDefinition } from '../src/domain/evaluation/model/definitions.ts';
import type { Snapshot } from '../src/domain/evaluation/model/snapshot.ts';
import { prepareSnapshot } from '../src/domain/evaluation/prepare/prepare.ts';
import { aCondition, aContext, aFlag, aProject, compileTestPattern } from '../test/builders.ts';

const PROPERTIES = 20;
const PERSONS = 64;

/** Definitions of flags that each have one text condition and a 50 % rollout, as JSON: parsed they are like stored ones. */
export function writeDefinitions(flags: number): string {
  const definitions = Array.from({ length: flags }, (_, at) =>
    aFlag({
      id: at + 1,
      key: benchKey(at),
      filters: {
        groups: [
          aCondition({
            properties: [{ key: `plan_${at % PROPERTIES}`, type: 'person', value: 'Pro' }],
            rollout_percentage: 50,
          }),
        ],
      },
    }),
  );
  return JSON.stringify(definitions);
}

/** The key of a flag by its position. */
export function benchKey(at: number): string {
  return `bench-flag-${at}`;
}

/** A project of these flags. */
export function prepareProject(flags: readonly FlagDefinition[]): Snapshot {
  return prepareSnapshot(aProject({ flags }), compileTestPattern);
}

/** Persons who match every condition, so that each flag's hash has to be computed. */
export function createPersons() {
  const personProperties = Object.fromEntries(
    Array.from({ length: PROPERTIES }, (_, at) => [`plan_${at}`, 'pro']),
  );
  return Array.from({ length: PERSONS }, (_, at) =>
    aContext({ distinctId: `0190a1b2-c3d4-7e8f-9a0b-c0ffee1234${10 + at}`, personProperties }),
  );
}
