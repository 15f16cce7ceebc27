import { describe, expect, it } from 'vitest';
import { aCondition, aStored, evaluateOne } from '../../../../test/builders.ts';
import type { JsonValue } from '../../common/json.ts';

const MISSING = Symbol('missing');

/** Whether a flag with this one filter is on for a person with this property. */
function isMatch(
  operator: string | null,
  value: JsonValue | undefined,
  property: JsonValue | typeof MISSING,
): boolean {
  const filter = {
    key: 'p',
    type: 'person',
    operator,
    ...(value === undefined ? {} : { value }),
  };
  const outcome = evaluateOne(
    { filters: { groups: [aCondition({ properties: [filter] })] } },
    { personProperties: property === MISSING ? {} : { p: property } },
  );
  expect(outcome.failed).toBe(false);
  return outcome.enabled;
}

type Case = [
  operator: string,
  value: JsonValue | undefined,
  property: JsonValue | typeof MISSING,
  expected: boolean,
];

describe('exact', () => {
  it.each<Case>([
    ['exact', 'pro', 'pro', true],
    ['exact', 'pro', 'PRO', true],
    ['exact', 'STRASSE', 'straße', false],
    ['exact', 'ÄPFEL', 'äpfel', true],
    ['exact', 'pro', 'prop', false],
    ['exact', 1, '1', true],
    ['exact', '1', 1, true],
    ['exact', 'null', null, true],
    ['exact', '[1,2]', [1, 2], true],
    ['exact', '{"a":1}', { a: 1 }, true],
    ['exact', '{"10":{"a":1,"b":[]},"9":2}', { 9: 2, 10: { b: [], a: 1 } }, true],
    ['exact', '{"\u{ff21}":1,"\u{1d400}":2}', { '\u{1d400}': 2, '\u{ff21}': 1 }, true],
    ['exact', ['a', 'B'], 'b', true],
    ['exact', ['a', 2], 2, true],
    ['exact', ['a', 'b'], 'c', false],
    ['exact', ['a'], 'A', true],
    ['exact', '', '', true],
    ['exact', 'pro', MISSING, false],
    ['exact', undefined, 'pro', false],
    ['exact', null, null, false],
  ])('%s %j on %j is %s', (operator, value, property, expected) => {
    expect(isMatch(operator, value, property)).toBe(expected);
  });

  it.each<Case>([
    ['exact', true, true, true],
    ['exact', true, 'TRUE', true],
    ['exact', 'True', 'true', true],
    ['exact', true, 1, false],
    ['exact', true, [true, 'true'], true],
    ['exact', true, [true, 'no'], false],
    ['exact', false, false, true],
    ['exact', 'false', 'banana', true],
    ['exact', 'false', 0, true],
    ['exact', 'false', null, true],
    ['exact', 'FALSE', 'true', false],
    ['exact', ['true', 'false'], 'false', true],
    ['exact', ['true', 'false'], 'true', false],
    ['exact', ['true', true], 'true', true],
    ['exact', [], true, true],
    ['exact', [], 'banana', false],
    ['exact', [['TRUE'], []], 'true', true],
    ['exact', [['true'], false], 'banana', true],
    ['exact', [['true', 'yes']], 'true', false],
    ['exact', ['true', 'yes'], 'YES', true],
    ['exact', false, MISSING, false],
  ])('compares truthiness for a boolean-like filter: %s %j on %j is %s', (...row) => {
    const [operator, value, property, expected] = row;
    expect(isMatch(operator, value, property)).toBe(expected);
  });

  it('is the operator when none is given', () => {
    expect(isMatch(null, 'pro', 'Pro')).toBe(true);
    expect(isMatch(null, 'pro', 'free')).toBe(false);
  });
});

describe('is_not', () => {
  it.each<Case>([
    ['is_not', 'pro', 'PRO', false],
    ['is_not', 'pro', 'free', true],
    ['is_not', ['a', 'b'], 'B', false],
    ['is_not', ['a', 'b'], 'c', true],
    ['is_not', 'false', 'banana', false],
    ['is_not', true, 1, true],
    ['is_not', 'pro', MISSING, true],
    ['is_not', undefined, 'free', false],
    ['is_not', undefined, MISSING, false],
  ])('%s %j on %j is %s', (operator, value, property, expected) => {
    expect(isMatch(operator, value, property)).toBe(expected);
  });
});

describe('presence', () => {
  it.each<Case>([
    ['is_set', undefined, 'x', true],
    ['is_set', 'ignored', null, true],
    ['is_set', undefined, MISSING, false],
    ['is_not_set', undefined, 'x', false],
    ['is_not_set', undefined, null, false],
    ['is_not_set', undefined, MISSING, true],
  ])('%s %j on %j is %s', (operator, value, property, expected) => {
    expect(isMatch(operator, value, property)).toBe(expected);
  });
});

describe('text', () => {
  it.each<Case>([
    ['icontains', '@X.com', 'a@x.COM', true],
    ['icontains', 'Ä', 'ä', false],
    ['icontains', 'ÄB', 'xÄb', true],
    ['icontains', 1, 210, true],
    ['icontains', 'ul', null, true],
    ['icontains', '', 'anything', true],
    ['icontains', 'a', MISSING, false],
    ['icontains', undefined, 'a', false],
    ['not_icontains', 'x', 'abc', true],
    ['not_icontains', 'B', 'abc', false],
    ['not_icontains', 'x', MISSING, true],
    ['not_icontains', undefined, 'abc', false],
    ['icontains_multi', ['x', 'B'], 'abc', true],
    ['icontains_multi', ['x', 'y'], 'abc', false],
    ['icontains_multi', 'B', 'abc', true],
    ['icontains_multi', [], 'abc', false],
    ['icontains_multi', ['a'], MISSING, false],
    ['not_icontains_multi', ['x', 'y'], 'abc', true],
    ['not_icontains_multi', ['x', 'B'], 'abc', false],
    ['not_icontains_multi', [], 'abc', true],
    ['not_icontains_multi', ['a'], MISSING, true],
    ['starts_with', 'AB', 'abc', true],
    ['starts_with', 'bc', 'abc', false],
    ['starts_with', 'a', MISSING, false],
    ['not_starts_with', 'AB', 'abc', false],
    ['not_starts_with', 'bc', 'abc', true],
    ['not_starts_with', 'a', MISSING, true],
    ['ends_with', 'BC', 'abc', true],
    ['ends_with', 'ab', 'abc', false],
    ['ends_with', 'a', MISSING, false],
    ['not_ends_with', 'BC', 'abc', false],
    ['not_ends_with', 'ab', 'abc', true],
    ['not_ends_with', 'a', MISSING, true],
    ['regex', 'b.', 'abc', true],
    ['regex', '^b', 'abc', false],
    ['regex', 'B', 'abc', false],
    ['regex', '^5$', 5, true],
    ['regex', '(', 'abc', false],
    ['regex', 'a', MISSING, false],
    ['not_regex', '^b', 'abc', true],
    ['not_regex', 'b', 'abc', false],
    ['not_regex', '(', 'abc', false],
    ['not_regex', 'a', MISSING, true],
  ])('%s %j on %j is %s', (operator, value, property, expected) => {
    expect(isMatch(operator, value, property)).toBe(expected);
  });
});

describe('numbers', () => {
  it.each<Case>([
    ['gt', 5, 6, true],
    ['gt', 5, 5, false],
    ['gt', '5', '10', true],
    ['gt', 5, 'ten', false],
    ['gt', 'five', 10, false],
    ['gt', 5, true, false],
    ['gt', 5, [6], false],
    ['gt', 5, null, false],
    ['gt', 5, '', false],
    ['gt', 5, ' 6', false],
    ['gt', 5, '0x10', false],
    ['gt', 5, '1e3', true],
    ['gt', 5, '+6', true],
    ['gt', 5, '6.', true],
    ['gt', 0, '.5', true],
    ['gt', 5, 'inf', true],
    ['gt', 5, '-Infinity', false],
    ['gt', 5, 'nan', false],
    ['lt', 5, 'nan', false],
    ['gt', 5, MISSING, false],
    ['gte', 5, 5, true],
    ['gte', 5, 4.99, false],
    ['lt', 5, 4, true],
    ['lt', 5, 5, false],
    ['lt', 5, MISSING, false],
    ['lte', 5, 5, true],
    ['lte', 5, 5.01, false],
    ['between', [1, 3], 1, true],
    ['between', [1, 3], '3', true],
    ['between', [1, 3], 3.1, false],
    ['between', ['1', '3'], 2, true],
    ['between', [1, 3], 'two', false],
    ['between', [1, 3], null, false],
    ['between', [1, 3], 'nan', false],
    ['between', [3, 1], 2, false],
    ['between', [1], 1, false],
    ['between', [1, 2, 3], 2, false],
    ['between', '1', 1, false],
    ['between', [1, 'nan'], 1, false],
    ['between', [1, 3], MISSING, false],
    ['not_between', [1, 3], 4, true],
    ['not_between', [1, 3], 3, false],
    ['not_between', [1, 3], 'two', true],
    ['not_between', [1, 3], null, true],
    ['not_between', [1, 3], 'nan', false],
    ['not_between', [3, 1], 9, false],
    ['not_between', [1, 'x'], MISSING, false],
    ['not_between', [1, 3], MISSING, true],
  ])('%s %j on %j is %s', (operator, value, property, expected) => {
    expect(isMatch(operator, value, property)).toBe(expected);
  });
});

describe('a value nested too deeply to be written as text', () => {
  const deep: JsonValue = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);

  it.each<[string, JsonValue]>([
    ['exact', 'pro'],
    ['exact', true],
    ['not_icontains', 'x'],
    ['semver_neq', '1.0.0'],
    ['is_date_after', '2020-01-01'],
    ['gt', 1],
  ])('does not match under %s %j, and does no harm', (operator, value) => {
    expect(isMatch(operator, value, deep)).toBe(false);
  });
});

describe('operators of other filters', () => {
  it.each<Case>([
    ['in', 1, 1, false],
    ['not_in', 1, 2, false],
    ['flag_evaluates_to', true, true, false],
  ])('%s %j never matches the plain property %j', (operator, value, property, expected) => {
    expect(isMatch(operator, value, property)).toBe(expected);
    expect(isMatch(operator, value, MISSING)).toBe(false);
  });
});

describe('where a person property comes from', () => {
  const isOn = (key: string, value: JsonValue) => ({
    filters: { groups: [aCondition({ properties: [{ key, value }] })] },
  });
  const stored = (properties: Record<string, JsonValue>) =>
    aStored({ person: { properties, createdAt: new Date(0) } });

  it('is the request before the database', () => {
    const context = { personProperties: { plan: 'pro' }, stored: stored({ plan: 'free' }) };
    expect(evaluateOne(isOn('plan', 'pro'), context).enabled).toBe(true);
    expect(evaluateOne(isOn('plan', 'free'), context).enabled).toBe(false);
  });

  it('is the database where the request is silent', () => {
    const context = { stored: stored({ plan: 'free' }) };
    expect(evaluateOne(isOn('plan', 'free'), context).enabled).toBe(true);
  });

  it('is the distinct id of the request, unless the request itself overrides it', () => {
    const flag = isOn('distinct_id', 'a-person');
    expect(evaluateOne(flag, { stored: stored({ distinct_id: 'other' }) }).enabled).toBe(true);
    expect(evaluateOne(flag, { personProperties: { distinct_id: 'other' } }).enabled).toBe(false);
  });

  it.each([
    ['$os', { $os_name: 'iOS' }, 'iOS'],
    ['$os_name', { $os: 'iOS' }, 'iOS'],
    ['$os', { $os: 'Linux', $os_name: 'iOS' }, 'Linux'],
    ['$initial_os', { $os_name: 'iOS' }, 'iOS'],
    ['$initial_browser', { $browser: 'Firefox' }, 'Firefox'],
    ['$initial_browser', { $initial_browser: 'Opera', $browser: 'Firefox' }, 'Opera'],
    ['$initial_utm_source', { utm_source: 'mail' }, 'mail'],
    ['$initial__kx', { _kx: 'k' }, 'k'],
  ])('derives %s from %j', (key, personProperties, expected) => {
    expect(evaluateOne(isOn(key, expected), { personProperties }).enabled).toBe(true);
  });

  it('does not derive what is not tracked', () => {
    const context = { personProperties: { plan: 'pro' } };
    expect(evaluateOne(isOn('$initial_plan', 'pro'), context).enabled).toBe(false);
  });

  it('keeps a stored first touch over one derived from the request', () => {
    const context = {
      personProperties: { utm_source: 'ad' },
      stored: stored({ $initial_utm_source: 'mail' }),
    };
    expect(evaluateOne(isOn('$initial_utm_source', 'mail'), context).enabled).toBe(true);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'is never the prototype of an object: %s',
    (key) => {
      const flag = {
        filters: { groups: [aCondition({ properties: [{ key, operator: 'is_set' }] })] },
      };
      expect(evaluateOne(flag, { stored: stored({}) }).enabled).toBe(false);
    },
  );

  it('is the row of the person for person_metadata, and only its creation time', () => {
    const flag = (key: string, operator: string) => ({
      filters: {
        groups: [
          aCondition({
            properties: [{ key, type: 'person_metadata', operator, value: '2025-01-01' }],
          }),
        ],
      },
    });
    const context = {
      stored: aStored({ person: { properties: {}, createdAt: new Date('2024-06-01') } }),
    };
    expect(evaluateOne(flag('created_at', 'is_date_before'), context).enabled).toBe(true);
    expect(evaluateOne(flag('created_at', 'is_date_after'), context).enabled).toBe(false);
    expect(evaluateOne(flag('created_at', 'is_date_before'), { stored: aStored() }).enabled).toBe(
      false,
    );
    expect(evaluateOne(flag('uuid', 'is_not_set'), context).enabled).toBe(false);
  });
});
