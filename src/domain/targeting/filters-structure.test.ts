import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../common/json.ts';
import { Refusal } from '../common/refusal.ts';
import { checkFiltersStructure } from './filters-structure.ts';

function faultOf(filters: JsonObject): string | null {
  try {
    checkFiltersStructure(filters);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error).toMatchObject({ kind: 'invalid', attr: 'filters', code: 'invalid_input' });
    return error.detail;
  }
}

const withGroup = (group: JsonValue) => ({ groups: [{}, group] });
const withProperty = (property: JsonValue) => withGroup({ properties: [property] });
const withVariant = (variant: JsonValue) => ({ multivariate: { variants: [variant] } });

describe('filters of the right structure', () => {
  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['one condition without anything', { groups: [{}] }],
    [
      'null wherever it is allowed',
      {
        groups: [
          {
            properties: null,
            rollout_percentage: null,
            variant: null,
            aggregation_group_type_index: null,
          },
        ],
        multivariate: null,
        payloads: null,
        aggregation_group_type_index: null,
        early_exit: null,
        feature_enrollment: null,
        holdout: null,
      },
    ],
    [
      'everything',
      {
        groups: [
          {
            properties: [
              { key: 'email', type: 'person', operator: 'icontains', value: 'x', negation: false },
              { key: 17, type: 'flag', operator: 'flag_evaluates_to', value: true },
              { key: 'plan', type: 'group', group_type_index: 0, value: ['pro'] },
              { key: 'id', type: 'cohort', value: 1 },
            ],
            rollout_percentage: 33.3,
            variant: 'a',
            aggregation_group_type_index: 0,
            description: 'free',
            sort_key: [1],
          },
        ],
        multivariate: { variants: [{ key: 'a', name: 'A', rollout_percentage: 100 }] },
        payloads: { a: '{}' },
        holdout: { id: 3, exclusion_percentage: 10.5 },
        unknown: { kept: true },
      },
    ],
    [
      'the bounds of a percentage',
      { groups: [{ rollout_percentage: 0 }, { rollout_percentage: 100 }] },
    ],
  ])('pass: %s', (_what, filters) => {
    expect(faultOf(filters)).toBeNull();
  });
});

describe('filters of the wrong structure', () => {
  it.each<[JsonObject, string]>([
    [{ groups: {} }, 'groups must be a list, got dict'],
    [{ groups: null }, 'groups must be a list, got NoneType'],
    [withGroup('x'), 'groups[1] must be a dictionary, got str'],
    [withGroup([]), 'groups[1] must be a dictionary, got list'],
    [
      withGroup({ rollout_percentage: '50' }),
      'groups[1].rollout_percentage must be a number or null, got str',
    ],
    [
      withGroup({ rollout_percentage: true }),
      'groups[1].rollout_percentage must be a number or null, got bool',
    ],
    [
      withGroup({ rollout_percentage: 120 }),
      'groups[1].rollout_percentage must be between 0 and 100, got 120',
    ],
    [
      withGroup({ rollout_percentage: -0.1 }),
      'groups[1].rollout_percentage must be between 0 and 100, got -0.1',
    ],
    [withGroup({ variant: 5 }), 'groups[1].variant must be a string or null, got int'],
    [withGroup({ properties: {} }), 'groups[1].properties must be a list, got dict'],
    [
      withGroup({ aggregation_group_type_index: 1.5 }),
      'groups[1].aggregation_group_type_index must be an integer or null, got float',
    ],
    [withProperty(null), 'groups[1].properties[0] must be a dictionary, got NoneType'],
    [withProperty({ value: 1 }), 'groups[1].properties[0].key: a property key is required'],
    [withProperty({ key: '' }), 'groups[1].properties[0].key: a property key is required'],
    [withProperty({ key: ['a'] }), 'groups[1].properties[0].key: a property key is required'],
    [
      withProperty({ key: 'a', type: 'event' }),
      'groups[1].properties[0].type: invalid property type',
    ],
    [
      withProperty({ key: 'a', operator: 1 }),
      'groups[1].properties[0].operator must be a string or null, got int',
    ],
    [
      withProperty({ key: 'a', negation: 'no' }),
      'groups[1].properties[0].negation must be a boolean or null',
    ],
    [
      withProperty({ key: 'a', group_type_index: '0' }),
      'groups[1].properties[0].group_type_index must be an integer or null, got str',
    ],
    [
      { aggregation_group_type_index: 'company' },
      'aggregation_group_type_index must be an integer or null, got str',
    ],
    [{ early_exit: 'yes' }, 'early_exit must be a boolean or null, got str'],
    [{ feature_enrollment: 1 }, 'feature_enrollment must be a boolean or null, got int'],
    [{ holdout: [] }, 'holdout must be a dictionary or null, got list'],
    [{ holdout: { id: 'x', exclusion_percentage: 1 } }, 'holdout.id must be an integer'],
    [{ holdout: { id: 1 } }, 'holdout.exclusion_percentage must be a number'],
    [
      { holdout: { id: 1, exclusion_percentage: 101 } },
      'holdout.exclusion_percentage must be between 0 and 100, got 101',
    ],
    [{ multivariate: [] }, 'multivariate must be a dictionary or null, got list'],
    [{ multivariate: {} }, 'multivariate.variants must be a list'],
    [withVariant('a'), 'multivariate.variants[0] must be a dictionary, got str'],
    [withVariant({ rollout_percentage: 100 }), 'multivariate.variants[0].key must be a string'],
    [
      withVariant({ key: 'a' }),
      'multivariate.variants[0].rollout_percentage must be a number, got null',
    ],
    [
      withVariant({ key: 'a', rollout_percentage: '1' }),
      'multivariate.variants[0].rollout_percentage must be a number, got str',
    ],
    [
      withVariant({ key: 'a', rollout_percentage: 101 }),
      'multivariate.variants[0].rollout_percentage must be between 0 and 100, got 101',
    ],
  ])('are refused with their path: %j', (filters, detail) => {
    expect(faultOf(filters)).toBe(detail);
  });

  it('are refused when a number is too large for JSON', () => {
    const filters = JSON.parse('{"groups": [{"rollout_percentage": 1e400}]}');
    expect(faultOf(filters)).toMatch(/must be between 0 and 100/);
  });
});
