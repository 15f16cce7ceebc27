import { describe, expect, it } from 'vitest';
import { aCondition, evaluateOne } from '../../../../test/builders.ts';
import type { JsonValue } from '../../common/json.ts';

function isMatch(operator: string, value: JsonValue, version: JsonValue): boolean {
  const properties = [{ key: 'version', operator, value }];
  return evaluateOne(
    { filters: { groups: [aCondition({ properties })] } },
    { personProperties: { version } },
  ).enabled;
}

describe('semver comparison', () => {
  it.each<[string, JsonValue, JsonValue, boolean]>([
    ['eq', '1.2.3', '1.2.3', true],
    ['eq', '1.2.3', 'v1.2.3', true],
    ['eq', '1.2.3', ' 1.2.3 ', true],
    ['eq', '1.2.3', 'V1.2.3', false],
    ['eq', '1.2', '1.2.0', true],
    ['eq', '1', 1, true],
    ['eq', '1.2', 1.2, true],
    ['eq', '1.02.3', '1.2.03', true],
    ['eq', '1.2.3', '1.2.3+build.7', true],
    ['eq', '1.2.3', '1.2.3-rc.1', false],
    ['eq', '1.2.3.4', '1.2.3', false],
    ['eq', '1.2.3', '1.2.3.4', false],
    ['eq', '1.2.3', '1.2.', false],
    ['neq', '1.2.3', '1.2.4', true],
    ['neq', '1.2.3', '1.2.3', false],
    ['neq', '1.2.3', 'banana', false],
    ['neq', 'banana', '1.2.3', false],
    ['gt', '1.9.0', '1.10.0', true],
    ['gt', '1.2.3', '1.2.3', false],
    ['gt', '1.2.3-rc.1', '1.2.3', true],
    ['gt', '1.0.0-alpha.1', '1.0.0-alpha.beta', true],
    ['gt', '1.0.0-alpha', '1.0.0-alpha.1', true],
    ['gt', '1.0.0-beta.2', '1.0.0-beta.11', true],
    ['gt', '9007199254740992.0.0', '9007199254740993.0.0', true],
    ['gt', '1.0.0', '18446744073709551616.0.0', false],
    ['gte', '1.2.3', '1.2.3', true],
    ['gte', '1.2.3', '1.2.3-rc.1', false],
    ['lt', '1.2.3', '1.2.3-rc.1', true],
    ['lt', '1.2.3', '1.2.3', false],
    ['lte', '1.2.3', '1.2.3', true],
    ['lte', '1.2.3', '1.3', false],
    ['lte', '1.2.3', '1.0.0-01', false],
    ['lte', '1.2.3', '1.0.0-', false],
    ['lte', '1.2.3', null, false],
  ])('semver_%s %j on %j is %s', (operator, value, version, expected) => {
    expect(isMatch(`semver_${operator}`, value, version)).toBe(expected);
  });
});

describe('semver ranges', () => {
  it.each<[string, JsonValue, JsonValue, boolean]>([
    ['tilde', '1.2.3', '1.2.9', true],
    ['tilde', '1.2.3', '1.2.2', false],
    ['tilde', '1.2.3', '1.3.0', false],
    ['tilde', '1.2', '1.2.0', true],
    ['tilde', '1.2.3', '1.2.4-rc.1', false],
    ['tilde', '1.2.3-rc.1', '1.2.3-rc.2', true],
    ['tilde', '1.2.3-rc.1', '1.2.4-rc.1', false],
    ['caret', '1.2.3', '1.9.0', true],
    ['caret', '1.2.3', '1.2.2', false],
    ['caret', '1.2.3', '2.0.0', false],
    ['caret', '0.2.3', '0.2.9', true],
    ['caret', '0.2.3', '0.3.0', false],
    ['caret', '0.0.3', '0.0.3', true],
    ['caret', '0.0.3', '0.0.4', false],
    ['caret', '1.2.3', '1.3.0-rc.1', false],
    ['caret', '1.2.3-beta', '1.2.3', true],
    ['caret', 'x', '1.2.3', false],
    ['wildcard', '1.*', '1.9.9', true],
    ['wildcard', '1.*', '2.0.0', false],
    ['wildcard', '1.2.*', '1.2.7', true],
    ['wildcard', '1.2.*', '1.3.0', false],
    ['wildcard', '1.*.*', '1.3.0', true],
    ['wildcard', '*', '7.0.0', true],
    ['wildcard', 'v1.x', '1.4.0', true],
    ['wildcard', '01.*', '1.4.0', true],
    ['wildcard', '1.2.3', '1.2.3', true],
    ['wildcard', '1.2.3', '1.2.4', false],
    ['wildcard', '1.*.3', '1.2.3', false],
    ['wildcard', '1.2.3.*', '1.2.3', false],
    ['wildcard', '1.*', '1.2.0-rc.1', false],
    ['wildcard', '1..*', '1.2.0', false],
  ])('semver_%s %j on %j is %s', (operator, value, version, expected) => {
    expect(isMatch(`semver_${operator}`, value, version)).toBe(expected);
  });

  it.each(['semver_eq', 'semver_neq', 'semver_tilde', 'semver_wildcard'])(
    '%s does not match a person without the property',
    (operator) => {
      const properties = [{ key: 'version', operator, value: '1.2.3' }];
      expect(evaluateOne({ filters: { groups: [aCondition({ properties })] } }).enabled).toBe(
        false,
      );
    },
  );
});
