import { describe, expect, it } from 'vitest';
import { Refusal } from '../../common/refusal.ts';
import type { FeatureFlagInput } from '../model/flag-fields.ts';
import { validateFlagFields } from './validate-flag.ts';

const STORED = {
  bucketingIdentifier: 'distinct_id',
  ensureExperienceContinuity: false,
};

function faultOf(input: FeatureFlagInput, stored = STORED) {
  try {
    validateFlagFields(input, stored);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { kind, code, detail, attr } = error;
    return { kind, code, detail, attr };
  }
}

describe('experience continuity', () => {
  const device = { ...STORED, bucketingIdentifier: 'device_id' };
  const continuous = { ...STORED, ensureExperienceContinuity: true };

  it.each<[string, FeatureFlagInput, typeof STORED]>([
    [
      'both at once',
      { bucketingIdentifier: 'device_id', ensureExperienceContinuity: true },
      STORED,
    ],
    ['continuity on top of devices', { ensureExperienceContinuity: true }, device],
    ['devices on top of continuity', { bucketingIdentifier: 'device_id' }, continuous],
  ])('cannot go with bucketing by device: %s', (_what, input, stored) => {
    expect(faultOf(input, stored)).toEqual({
      kind: 'invalid',
      code: 'invalid_input',
      detail:
        "Cannot enable 'persist across authentication steps' when using device ID bucketing. " +
        'These features are incompatible.',
      attr: null,
    });
  });

  it.each<[string, FeatureFlagInput, typeof STORED]>([
    [
      'one replaces the other',
      { bucketingIdentifier: 'distinct_id', ensureExperienceContinuity: true },
      device,
    ],
    [
      'an old flag has both already',
      { name: 'x' },
      { ...device, ensureExperienceContinuity: true },
    ],
    [
      'an old flag repeats both',
      { bucketingIdentifier: 'device_id', ensureExperienceContinuity: true },
      { ...device, ensureExperienceContinuity: true },
    ],
  ])('is let through when %s', (_what, input, stored) => {
    expect(faultOf(input, stored)).toBeNull();
  });
});
