import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../common/json.ts';
import { Refusal } from '../../common/refusal.ts';
import { compilePattern } from '../../targeting/patterns.ts';
import { normaliseFilters, requireCondition, validateFilters } from './validate-filters.ts';

function faultOf(check: () => void): { code: string; detail: string } | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error).toMatchObject({ kind: 'invalid', attr: 'filters' });
    return { code: error.code, detail: error.detail };
  }
}

const faultOfFilters = (filters: JsonObject) =>
  faultOf(() => validateFilters(filters, { compilePattern, maxBytes: 524_288 }));

const variants = (...all: [string, number][]) => ({
  variants: all.map(([key, share]) => ({ key, rollout_percentage: share })),
});

describe('filters that keep to the rules', () => {
  it.each<[string, JsonObject]>([
    ['an empty condition', { groups: [{}] }],
    ['no condition, which an update may leave', { groups: [] }],
    ['no variants', { multivariate: { variants: [] } }],
    ['variants that sum to 100', { multivariate: variants(['a', 30], ['b', 70]) }],
    [
      'thirds, which no decimal sums exactly',
      { multivariate: variants(['a', 33.33], ['b', 33.33], ['c', 33.34]) },
    ],
    ['every character of a variant key', { multivariate: variants(['aZ0_./-', 100]) }],
    [
      'an override that is a variant',
      { groups: [{ variant: 'a' }], multivariate: variants(['a', 100]) },
    ],
    ['an override that is empty', { groups: [{ variant: '' }] }],
    ['a payload for everybody', { payloads: { true: '{"a": 1}' } }],
    ['a payload of a variant', { multivariate: variants(['a', 100]), payloads: { a: '1' } }],
    ['no payloads', { payloads: null }],
    [
      'group properties of the flag-wide group type',
      {
        aggregation_group_type_index: 1,
        groups: [{ properties: [{ key: 'plan', type: 'group', group_type_index: 1 }] }],
      },
    ],
    [
      'a condition for persons in a flag for groups',
      {
        aggregation_group_type_index: 1,
        groups: [{ aggregation_group_type_index: null, properties: [{ key: 'email' }] }],
      },
    ],
  ])('pass: %s', (_what, filters) => {
    expect(faultOfFilters(filters)).toBeNull();
  });
});

describe('filters that break a rule', () => {
  const onlyPersons = 'Filters are not valid (can only use person, cohort, and flag properties)';
  const onlyGroups = 'Filters are not valid (can only use group properties)';
  const sum = 'Invalid variant definitions: Variant rollout percentages must sum to 100.';

  it.each<[string, JsonObject, string, string]>([
    ['a wrong structure', { groups: 'x' }, 'invalid_input', 'groups must be a list, got str'],
    ['variants below 100', { multivariate: variants(['a', 40], ['b', 50]) }, 'invalid_input', sum],
    ['variants above 100', { multivariate: variants(['a', 60], ['b', 50]) }, 'invalid_input', sum],
    [
      'a variant twice',
      { multivariate: variants(['a', 50], ['a', 50]) },
      'cross_field.variant_keys_not_unique',
      'multivariate.variants: Variant keys must be unique, duplicated: a.',
    ],
    [
      'a variant key with a space',
      { multivariate: variants(['a b', 100]) },
      'structural.multivariate.variants[].key.invalid',
      'multivariate.variants[0].key: Only letters, numbers, hyphens (-), underscores (_), dots (.) & slashes (/) are allowed.',
    ],
    [
      'an override that is not a variant',
      { groups: [{ variant: 'c' }], multivariate: variants(['a', 100]) },
      'invalid_input',
      'Filters are not valid (variant override does not exist)',
    ],
    [
      'an override without variants',
      { groups: [{ variant: 'c' }] },
      'invalid_input',
      'Filters are not valid (variant override does not exist)',
    ],
    [
      'a group property for persons',
      { groups: [{ properties: [{ key: 'plan', type: 'group' }] }] },
      'invalid_input',
      onlyPersons,
    ],
    [
      'a person property for groups',
      { aggregation_group_type_index: 0, groups: [{ properties: [{ key: 'email' }] }] },
      'invalid_input',
      onlyGroups,
    ],
    [
      'a property of another group type',
      {
        groups: [
          {
            aggregation_group_type_index: 0,
            properties: [{ key: 'plan', type: 'group', group_type_index: 1 }],
          },
        ],
      },
      'invalid_input',
      onlyGroups,
    ],
    [
      'payloads in a list',
      { payloads: [] },
      'invalid_input',
      'Payloads must be passed as a dictionary',
    ],
    [
      'a payload that is not JSON',
      { payloads: { true: 'hello' } },
      'invalid_input',
      'Payload value is not valid JSON',
    ],
    [
      'a payload under another name than true',
      { payloads: { yes: '1' } },
      'invalid_input',
      "Payload keys must be 'true' for boolean flags",
    ],
    [
      'a payload that belongs to no variant',
      { multivariate: variants(['a', 100]), payloads: { true: '1' } },
      'invalid_input',
      'Payload keys must match a variant key for multivariate flags',
    ],
    [
      'a bad pattern in the second property',
      { groups: [{ properties: [{ key: 'a' }, { key: 'b', operator: 'regex', value: '(' }] }] },
      'invalid_input',
      'groups[0].properties[1].value: invalid regex pattern',
    ],
  ])('are told the code and why: %s', (_what, filters, code, detail) => {
    expect(faultOfFilters(filters)).toEqual({ code, detail });
  });

  it('are refused when they are too large, with both sizes', () => {
    const filters = { payloads: { true: JSON.stringify('ü'.repeat(262_144)) } };
    const bytes = Buffer.byteLength(JSON.stringify(filters));
    expect(faultOfFilters(filters)?.detail).toBe(
      'Feature flag filters exceed maximum size of 524288 bytes. ' +
        `Current size: ${bytes} bytes. Please simplify conditions or reduce payload sizes.`,
    );
  });
});

describe('requireCondition', () => {
  it.each<[JsonObject]>([[{}], [{ groups: [] }], [{ groups: null }]])('refuses %j', (filters) => {
    expect(faultOf(() => requireCondition(filters))?.detail).toBe(
      'Feature flags must have at least one condition set (group).',
    );
  });

  it('is content with one that says nothing', () => {
    expect(faultOf(() => requireCondition({ groups: [{}] }))).toBeNull();
  });
});

describe('normaliseFilters', () => {
  it('stores payloads as JSON text', () => {
    const payloads = { a: { x: 1 }, b: [1], c: 5, d: null, e: '{"already": "text"}' };
    expect(normaliseFilters({ payloads })).toEqual({
      payloads: { a: '{"x":1}', b: '[1]', c: '5', d: 'null', e: '{"already": "text"}' },
    });
  });

  it('replaces the older names of two operators', () => {
    const properties = [
      { key: 'a', operator: 'min', value: 1 },
      { key: 'b', operator: 'max', value: 2 },
      { key: 'c', operator: 'exact', value: 3 },
    ];
    const { groups } = normaliseFilters({ groups: [{ properties }] });
    expect(groups).toEqual([
      {
        properties: [
          { key: 'a', operator: 'gte', value: 1 },
          { key: 'b', operator: 'lte', value: 2 },
          { key: 'c', operator: 'exact', value: 3 },
        ],
      },
    ]);
  });

  it('leaves out what only older clients send, and keeps what it does not know', () => {
    const filters = { groups: [], super_groups: [{}], holdout_groups: null, mine: { kept: 1 } };
    expect(normaliseFilters(filters)).toEqual({ groups: [], mine: { kept: 1 } });
  });

  it.each<[JsonObject]>([
    [{ groups: 'x' }],
    [{ groups: [1, { properties: 'x' }] }],
    [{ payloads: [] }],
  ])('leaves %j for the checks to refuse', (filters) => {
    expect(normaliseFilters(filters)).toEqual(filters);
  });
});
