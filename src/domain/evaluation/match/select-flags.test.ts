import { describe, expect, it } from 'vitest';
import {
  aCondition,
  aContext,
  aFlag,
  aProject,
  compileTestPattern,
} from '../../../../test/builders.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { prepareSnapshot } from '../prepare/prepare.ts';
import { evaluateFlags } from './evaluate-flags.ts';
import { storedDataNeeds } from './stored-data.ts';

const FLAGS = 10_000;
const DEPENDENCY = { key: '3', type: 'flag', operator: 'flag_evaluates_to', value: true };

/** Fails whatever looks at it. */
function untouchable<Target extends object>(target: Target): Target {
  const fail = () => {
    throw new Error('touched');
  };
  return new Proxy(target, { get: fail, has: fail, ownKeys: fail });
}

/** The snapshot with all lists of flags, and all flags but these, untouchable. */
function guard(snapshot: Snapshot, open: readonly string[]): Snapshot {
  const guarded = snapshot.flags.map((flag) => ({
    id: flag.id,
    key: flag.key,
    flag: open.includes(flag.key) ? flag : untouchable(flag),
  }));
  return {
    ...snapshot,
    flags: untouchable(snapshot.flags),
    evaluationOrder: untouchable(snapshot.evaluationOrder),
    flagsByKey: new Map(guarded.map(({ key, flag }) => [key, flag])),
    flagsById: new Map(guarded.map(({ id, flag }) => [id, flag])),
  };
}

describe('one flag of ten thousand', () => {
  const flags = Array.from({ length: FLAGS }, (_, at) =>
    aFlag({
      id: at,
      key: `flag-${at}`,
      filters: {
        groups: [
          aCondition({ properties: at === 5000 ? [DEPENDENCY] : [], rollout_percentage: 99.9 }),
        ],
      },
    }),
  );
  const snapshot = prepareSnapshot(aProject({ flags }), compileTestPattern);
  const now = new Date(0);

  it.each([
    ['alone', ['flag-77'], ['flag-77']],
    ['with what it depends on', ['flag-5000'], ['flag-3', 'flag-5000']],
    ['among keys that are unknown', ['nothing', 'flag-9999'], ['flag-9999']],
  ])('is decided %s, and no other flag is looked at', (_, flagKeys, expected) => {
    const guarded = guard(snapshot, expected);
    expect(storedDataNeeds(guarded, aContext(), { flagKeys })).toBeNull();
    const { outcomes } = evaluateFlags(guarded, aContext(), { flagKeys, now });
    expect(outcomes.map(({ flag, enabled }) => [flag.key, enabled])).toEqual(
      expected.map((key) => [key, true]),
    );
  });

  it('is guarded by something that would notice', () => {
    expect(() => evaluateFlags(guard(snapshot, []), aContext(), { now })).toThrow('touched');
    expect(() =>
      evaluateFlags(guard(snapshot, ['flag-1']), aContext(), { flagKeys: ['flag-2'], now }),
    ).toThrow('touched');
  });
});
