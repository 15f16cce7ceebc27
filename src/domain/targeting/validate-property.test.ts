import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../common/json.ts';
import { Refusal } from '../common/refusal.ts';
import { compilePattern } from './patterns.ts';
import { validateProperty } from './validate-property.ts';

const PATH = 'groups[0].properties[0]';

function faultOf(property: JsonObject): { code: string; detail: string } | null {
  try {
    validateProperty({ key: 'k', ...property }, PATH, compilePattern);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error).toMatchObject({ kind: 'invalid', attr: 'filters' });
    return { code: error.code, detail: error.detail };
  }
}

describe('a property filter that keeps to the rules', () => {
  it.each<[JsonObject]>([
    [{ value: 'x' }],
    [{ operator: null, value: ['x', 1, true] }],
    [{ operator: 'exact', value: null }],
    [{ operator: 'is_not', value: [] }],
    [{ operator: 'is_set' }],
    [{ operator: 'is_not_set', value: 'is_not_set' }],
    [{ operator: 'icontains', value: 'x' }],
    [{ operator: 'not_icontains', value: '' }],
    [{ operator: 'regex', value: '^a.*(?i)b$' }],
    [{ operator: 'not_regex', value: '\\d+' }],
    [{ operator: 'gt', value: 5 }],
    [{ operator: 'lte', value: '5' }],
    [{ operator: 'icontains_multi', value: ['a', 'b'] }],
    [{ operator: 'is_date_exact', value: '2026-01-01' }],
    [{ operator: 'is_date_after', value: '-7d' }],
    [{ operator: 'is_date_before', value: '2026-01-01T10:00:00Z' }],
    [{ operator: 'semver_gt', value: '1.2.3' }],
    [{ operator: 'semver_caret', value: '1.2' }],
    [{ operator: 'semver_wildcard', value: '1.2.*' }],
    [{ type: 'cohort', operator: 'in', value: 4 }],
    [{ type: 'cohort', operator: 'not_in', value: 4 }],
    [{ type: 'cohort', value: 4 }],
    [{ type: 'flag', operator: 'flag_evaluates_to', value: true }],
    [{ type: 'group', operator: 'exact', value: ['pro'] }],
    [{ operator: 'between', value: [1, 5] }],
    [{ operator: 'not_between', value: ['1', '1'] }],
  ])('passes: %j', (property) => {
    expect(faultOf(property)).toBeNull();
  });
});

describe('a property filter that breaks a rule', () => {
  it.each<[JsonObject, string, string]>([
    [{ operator: 'foo' }, 'invalid_operator', 'Invalid operator: foo'],
    [{ operator: '' }, 'invalid_operator', 'Invalid operator: '],
    [
      { operator: 'in', value: [1] },
      'invalid_operator',
      "The 'in' operator is only valid for cohort properties, not 'person' properties.",
    ],
    [
      { operator: 'not_in', type: 'group', value: [1] },
      'invalid_operator',
      "The 'not_in' operator is only valid for cohort properties, not 'group' properties.",
    ],
    [
      { type: 'flag', operator: 'exact', value: true },
      'invalid_input',
      "Flag properties must use the 'flag_evaluates_to' operator",
    ],
    [
      { type: 'flag', value: true },
      'invalid_input',
      "Flag properties must use the 'flag_evaluates_to' operator",
    ],
    [{ operator: 'gt', value: ['x'] }, 'invalid_value', "Invalid value for operator gt: ['x']"],
    [
      { operator: 'icontains', value: true },
      'invalid_value',
      'Invalid value for operator icontains: True',
    ],
    [{ operator: 'regex', value: null }, 'invalid_value', 'Invalid value for operator regex: None'],
    [{ operator: 'lt' }, 'invalid_value', 'Invalid value for operator lt: None'],
    [
      { operator: 'icontains_multi', value: 'a' },
      'cross_field.operator_requires_list_value',
      `${PATH}.value: Operator icontains_multi requires a list of values.`,
    ],
    [{ operator: 'is_date_before', value: 'xyz' }, 'invalid_date', 'Invalid date value: xyz'],
    [{ operator: 'is_date_exact', value: ['a'] }, 'invalid_date', "Invalid date value: ['a']"],
    [
      { operator: 'is_date_after', value: '2026-13-01' },
      'invalid_date',
      'Invalid date value: 2026-13-01',
    ],
    [
      { operator: 'semver_gt', value: 'x' },
      'cross_field.semver_value_invalid',
      `${PATH}.value: Invalid semver value for operator semver_gt: x.`,
    ],
    [
      { operator: 'semver_gt', value: 1 },
      'cross_field.semver_value_invalid',
      `${PATH}.value: Invalid value for operator semver_gt: expected a semver string.`,
    ],
    [
      { operator: 'semver_wildcard', value: '*.2' },
      'cross_field.semver_value_invalid',
      `${PATH}.value: Invalid semver value for operator semver_wildcard: *.2.`,
    ],
  ])('is told its code and why: %j', (property, code, detail) => {
    expect(faultOf(property)).toEqual({ code, detail });
  });

  it.each(['(a', 'a(?=b)', '(a)\\1'])('is told where its pattern is: %s', (value) => {
    for (const operator of ['regex', 'not_regex']) {
      expect(faultOf({ operator, value })).toEqual({
        code: 'invalid_input',
        detail: `${PATH}.value: invalid regex pattern`,
      });
    }
  });

  it.each<[JsonValue]>([[5], [[1]], [[1, 2, 3]], [[2, 1]], [['a', 'b']], [null]])(
    'is not a range: %j',
    (value) => {
      expect(faultOf({ operator: 'between', value })?.code).toBe('invalid_value');
    },
  );
});
