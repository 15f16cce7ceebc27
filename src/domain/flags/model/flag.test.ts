import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../common/json.ts';
import { conditionsOf, propertiesOf, simpleRollout, variantsOf } from './flag.ts';

const VARIANTS = { variants: [{ key: 'a', rollout_percentage: 100 }] };

describe('simpleRollout', () => {
  it.each<[string, JsonObject, boolean, number | null]>([
    ['one condition with a percentage', { groups: [{ rollout_percentage: 40 }] }, true, 40],
    ['one condition with nothing', { groups: [{}] }, true, null],
    ['a percentage of null', { groups: [{ rollout_percentage: null }] }, true, null],
    ['no percentage for anybody', { groups: [{ properties: [], rollout_percentage: 0 }] }, true, 0],
    ['no condition', { groups: [] }, false, null],
    ['nothing at all', {}, false, null],
    ['two conditions', { groups: [{ rollout_percentage: 1 }, {}] }, false, null],
    [
      'a property filter',
      { groups: [{ rollout_percentage: 40, properties: [{ key: 'a' }] }] },
      false,
      null,
    ],
    ['variants', { groups: [{ rollout_percentage: 40 }], multivariate: VARIANTS }, false, null],
    [
      'no variants after all',
      { groups: [{ rollout_percentage: 40 }], multivariate: null },
      true,
      40,
    ],
  ])('of %s', (_what, filters, isSimple, rolloutPercentage) => {
    expect(simpleRollout(filters)).toEqual({ isSimple, rolloutPercentage });
  });

  it('is a whole number, which is all that the interface has', () => {
    const { rolloutPercentage } = simpleRollout({ groups: [{ rollout_percentage: 33.3 }] });
    expect(rolloutPercentage).toBe(33);
  });
});

describe('the parts of stored filters', () => {
  it('are found', () => {
    const condition = { properties: [{ key: 'email' }] };
    const filters = { groups: [condition], multivariate: VARIANTS };
    expect(conditionsOf(filters)).toEqual([condition]);
    expect(variantsOf(filters)).toEqual(VARIANTS.variants);
    expect(propertiesOf(condition)).toEqual([{ key: 'email' }]);
  });

  it.each<[JsonObject]>([
    [{}],
    [{ groups: null, multivariate: null, properties: null }],
    [{ groups: {}, multivariate: [], properties: 'x' }],
    [{ groups: [null, 1, []], multivariate: { variants: ['a'] }, properties: [1] }],
  ])('are none in %j', (stored) => {
    expect(conditionsOf(stored)).toEqual([]);
    expect(variantsOf(stored)).toEqual([]);
    expect(propertiesOf(stored)).toEqual([]);
  });
});
