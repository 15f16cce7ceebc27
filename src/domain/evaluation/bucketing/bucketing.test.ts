import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  aCondition,
  aContext,
  aFlag,
  aProject,
  compileTestPattern,
} from '../../../../test/builders.ts';
import { evaluateFlags } from '../match/evaluate-flags.ts';
import { prepareSnapshot } from '../prepare/prepare.ts';
import {
  accumulateShares,
  drawVariant,
  isInHoldout,
  isInRollout,
  isSplitting,
} from './bucketing.ts';
import { DrawMaker } from './draws.ts';
import { hash } from './hash.ts';
import type { Salt } from './sha1-lanes.ts';
import vectors from './vectors.json' with { type: 'json' };

const NOW = new Date(0);
const drawOf = (prefix: string, salt: Salt = '') => new DrawMaker().make(prefix, salt, 'test');

describe('hash', () => {
  it.each(vectors.hashes)(
    'gives the golden value for "$input"',
    ({ input, hash: expected, digest15 }) => {
      expect(hash(input)).toBe(expected);
      expect(hash(input)).toBe(Number.parseInt(digest15, 16) / 2 ** 60);
    },
  );

  it.each(vectors.hashes)(
    'is fed "$input" for a $kind',
    ({ kind, flagKey, identifier, hash: expected }) => {
      // The golden hash is the exact bound: inclusive for rollouts and holdouts, exclusive for variants.
      const below = expected * (1 - Number.EPSILON);
      if (kind === 'holdout') {
        expect([isInHoldout(identifier, expected), isInHoldout(identifier, below)]).toEqual([
          true,
          false,
        ]);
        return;
      }
      if (identifier === '') return;
      if (kind === 'rollout') {
        expect(isInRollout(drawOf(`${flagKey}.`), identifier, expected)).toBe(true);
        expect(isInRollout(drawOf(`${flagKey}.`), identifier, below)).toBe(false);
        return;
      }
      const draw = (threshold: number) =>
        drawVariant(drawOf(`${flagKey}.`, 'variant'), identifier, [threshold]);
      expect(draw(expected)).toBe(-1);
      expect(draw(expected * (1 + Number.EPSILON))).toBe(0);
    },
  );

  it('agrees with a digest read digit by digit for many texts', () => {
    for (let at = 0; at < 2000; at++) {
      const text = `${'ż'.repeat(at % 3)}flag-${at}.${'x'.repeat(at % 90)}`;
      const digits = createHash('sha1').update(text, 'utf8').digest('hex').slice(0, 15);
      expect(hash(text)).toBe(Number.parseInt(digits, 16) / 2 ** 60);
    }
  });
});

describe('an empty identifier', () => {
  it('is admitted even by a rollout of 0 %', () => {
    expect(isInRollout(drawOf('any.'), '', 0)).toBe(true);
  });

  it('draws the first variant that has a share', () => {
    const thresholds = accumulateShares([0, 30, 70]);
    expect(drawVariant(drawOf('any.', 'variant'), '', thresholds)).toBe(1);
  });

  it('is hashed by a holdout', () => {
    expect(isInHoldout('', 0.9268829483920294)).toBe(true);
    expect(isInHoldout('', 0.92)).toBe(false);
  });
});

describe('variant shares', () => {
  it('leave a remainder without a variant when they add up to less than 100', () => {
    const draw = drawOf('multivariate-flag.', 'variant');
    expect(drawVariant(draw, 'distinct_id_0', accumulateShares([10]))).toBe(-1);
  });

  it('shadow later variants when they add up to more than 100', () => {
    const draw = drawOf('multivariate-flag.', 'variant');
    expect(drawVariant(draw, 'distinct_id_0', accumulateShares([150, 50]))).toBe(0);
  });

  it('are added left to right as binary64', () => {
    expect(accumulateShares([10, 20, 30])).toEqual([0.1, 0.1 + 0.2, 0.1 + 0.2 + 0.3]);
  });

  it.each([
    ['no variants', [], false],
    ['one variant of 100 %', [100], false],
    ['one variant of 0 %', [0], false],
    ['one variant of 40 %', [40], true],
    ['everything on the second', [0, 100], false],
    ['the second shadowed', [100, 100], false],
    ['two halves', [50, 50], true],
  ])('%s: splitting is known', (_, percentages, expected) => {
    expect(isSplitting(accumulateShares(percentages))).toBe(expected);
  });
});

describe('the same thousand persons as every other client', () => {
  const { simple, multivariate, persons } = vectors.consistency;
  const snapshot = prepareSnapshot(
    aProject({
      flags: [
        aFlag({
          id: 1,
          key: simple.key,
          filters: { groups: [aCondition({ rollout_percentage: simple.rolloutPercentage })] },
        }),
        aFlag({
          id: 2,
          key: multivariate.key,
          filters: {
            groups: [aCondition({ rollout_percentage: multivariate.rolloutPercentage })],
            multivariate: {
              variants: multivariate.variants.map(([key, rollout_percentage]) => ({
                key: String(key),
                rollout_percentage: Number(rollout_percentage),
              })),
            },
          },
        }),
      ],
    }),
    compileTestPattern,
  );
  const rows = Array.from(
    { length: persons },
    (_, at) =>
      evaluateFlags(snapshot, aContext({ distinctId: `distinct_id_${at}` }), { now: NOW }).outcomes,
  );
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');

  it('get the same booleans', () => {
    const bits = rows.map(([outcome]) => (outcome?.enabled ? '1' : '0')).join('');
    expect(bits.startsWith('0110100101011010')).toBe(true);
    expect(bits.replaceAll('0', '').length).toBe(simple.enabled);
    expect(digest(bits)).toBe(simple.digest);
  });

  it('get the same variants', () => {
    const keys = rows.map(([, outcome]) => outcome?.variant ?? 'false');
    const counts: Record<string, number> = {};
    for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
    expect(counts).toEqual(multivariate.counts);
    expect(digest(keys.join(','))).toBe(multivariate.digest);
  });
});
