import { parseArgs } from 'node:util';
import { type Build, readBuild } from './build.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

/** What `npm run bench -- ...` was asked for. */
export interface Options {
  /** Whether to end with 1 when a target is missed. */
  readonly check: boolean;
  /** The build that this one is compared with, instead of everything else. */
  readonly against: Build | null;
  /** The scenarios to measure over HTTP; all of them unless `--only` names some. */
  readonly scenarios: readonly Scenario[];
  /** Whether `--only` was given: then only HTTP is measured. */
  readonly isPart: boolean;
  readonly generator: string | undefined;
  readonly mostPairs: number;
}

/** Reads the command line; throws when it makes no sense. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      check: { type: 'boolean', default: false },
      against: { type: 'string' },
      only: { type: 'string', multiple: true },
      generator: { type: 'string' },
      pairs: { type: 'string', default: '10' },
    },
  });
  const { only } = values;
  const scenarios = SCENARIOS.filter(({ name }) => only?.includes(name) ?? true);
  if (scenarios.length === 0) {
    const names = SCENARIOS.map(({ name }) => `'${name}'`).join(', ');
    throw new Error(`--only is one of ${names}.`);
  }
  return {
    check: values.check,
    against: values.against === undefined ? null : readBuild(values.against),
    scenarios,
    isPart: only !== undefined,
    generator: values.generator,
    mostPairs: Number(values.pairs),
  };
}
