import { describe, expect, it } from 'vitest';
import {
  aCondition,
  aContext,
  aFlag,
  aProject,
  compileTestPattern,
} from '../../../test/builders.ts';
import { type Evaluation, evaluateFlags } from '../../domain/evaluation/match/evaluate-flags.ts';
import type { FlagDefinition } from '../../domain/evaluation/model/definitions.ts';
import { prepareSnapshot } from '../../domain/evaluation/prepare/prepare.ts';
import { serialiseEvaluation } from './evaluation-reply.ts';

const STAMP = { requestId: '0192f0c1-7c40-7c7e-8f5a-2f6f1f0a9b3c', evaluatedAt: 1_768_478_400_000 };

function evaluate(...flags: Partial<FlagDefinition>[]): Evaluation {
  const project = aProject({
    flags: flags.map((flag, index) => aFlag({ id: index + 1, ...flag })),
  });
  const snapshot = prepareSnapshot(project, compileTestPattern);
  return evaluateFlags(snapshot, aContext(), { now: new Date('2026-01-15T12:00:00Z') });
}

const toFlags = (evaluation: Evaluation) =>
  JSON.parse(serialiseEvaluation(evaluation, 'flags', STAMP, null).text);

describe('serialiseEvaluation', () => {
  it('tells the value of each flag with its reason and metadata', () => {
    const reply = toFlags(
      evaluate({
        id: 7,
        key: 'on',
        version: 3,
        filters: { groups: [aCondition()], payloads: { true: '{"a":1}' } },
      }),
    );
    expect(reply).toEqual({
      errorsWhileComputingFlags: false,
      flags: {
        on: {
          key: 'on',
          enabled: true,
          variant: null,
          reason: {
            code: 'condition_match',
            condition_index: 0,
            description: expect.any(String),
          },
          metadata: {
            id: 7,
            version: 3,
            description: null,
            payload: '{"a":1}',
            has_experiment: false,
          },
        },
      },
      ...STAMP,
    });
  });

  it('tells a flag that is off, and a variant', () => {
    const { flags } = toFlags(
      evaluate(
        { key: 'off', filters: { groups: [] } },
        {
          key: 'split',
          filters: {
            groups: [aCondition({ variant: 'b' })],
            multivariate: {
              variants: [
                { key: 'a', rollout_percentage: 100 },
                { key: 'b', rollout_percentage: 0 },
              ],
            },
          },
        },
      ),
    );
    expect(flags.off).toMatchObject({ enabled: false, variant: null });
    expect(flags.off).not.toHaveProperty('failed');
    expect(flags.split).toMatchObject({ enabled: true, variant: 'b' });
  });

  it('marks a flag that could not be decided', () => {
    const needsStored = { groups: [aCondition({ properties: [{ key: 'plan', value: 'pro' }] })] };
    const snapshot = prepareSnapshot(
      aProject({ flags: [aFlag({ filters: needsStored })] }),
      compileTestPattern,
    );
    const evaluation = evaluateFlags(snapshot, aContext({ stored: 'unavailable' }), {
      now: new Date(0),
    });
    const reply = toFlags(evaluation);
    expect(reply.errorsWhileComputingFlags).toBe(true);
    expect(reply.flags['a-flag']).toMatchObject({ enabled: false, failed: true });
  });

  it('has no flags when there are none', () => {
    expect(toFlags(evaluate())).toEqual({ errorsWhileComputingFlags: false, flags: {}, ...STAMP });
  });

  it('escapes what a flag is called', () => {
    const key = 'quote " and \\ and \u2028';
    expect(Object.keys(toFlags(evaluate({ key })).flags)).toEqual([key]);
  });

  it('gives the same outcome the same text, and other flags their own', () => {
    const evaluation = evaluate({ key: 'a' }, { key: 'b' });
    const first = serialiseEvaluation(evaluation, 'flags', STAMP, null).text;
    expect(serialiseEvaluation(evaluation, 'flags', STAMP, null).text).toBe(first);
    const { flags } = JSON.parse(first);
    expect([flags.a.key, flags.b.key]).toEqual(['a', 'b']);
  });

  it.each([
    ['plain', 'of ASCII'],
    ['grün', 'of Latin-1'],
    ['旗', 'beyond Latin-1'],
  ])('is sent as the UTF-8 of its text: %s, %s', (key) => {
    for (const shape of ['flags', 'legacy'] as const) {
      for (const extra of [null, { note: key }]) {
        const reply = serialiseEvaluation(evaluate({ key }, { key: 'b' }), shape, STAMP, extra);
        expect(reply.bytes().toString('utf8')).toBe(reply.text);
        expect(reply.text).toContain(key);
      }
    }
  });

  it.each(['flags', 'legacy'] as const)('adds further fields to the shape %s', (shape) => {
    const extra = { quotaLimited: ['feature_flags'] };
    const reply = JSON.parse(serialiseEvaluation(evaluate(), shape, STAMP, extra).text);
    expect(reply).toMatchObject({ ...extra, ...STAMP });
  });

  it('tells values and payloads only in the older shape, flags that are off included', () => {
    const evaluation = evaluate(
      { key: 'on', filters: { groups: [aCondition()], payloads: { true: '1' } } },
      { key: 'off', filters: { groups: [] } },
    );
    expect(JSON.parse(serialiseEvaluation(evaluation, 'legacy', STAMP, null).text)).toEqual({
      errorsWhileComputingFlags: false,
      featureFlags: { on: true, off: false },
      featureFlagPayloads: { on: '1' },
      ...STAMP,
    });
  });
});
