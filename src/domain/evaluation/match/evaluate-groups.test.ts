import { describe, expect, it } from 'vitest';
import { aCondition, aStored, evaluateOne } from '../../../../test/builders.ts';
import type { JsonObject, JsonValue } from '../../common/json.ts';

const PRO = { key: 'plan', type: 'person', value: 'pro' };
const COMPANY = { groupTypes: [{ index: 0, name: 'company' }] };

describe('groups', () => {
  const groupFlag = (properties: JsonObject[], rollout_percentage = 100) => ({
    key: 'company-flag',
    filters: {
      aggregation_group_type_index: 0,
      groups: [aCondition({ properties, rollout_percentage })],
    },
  });
  const tier = { key: 'tier', type: 'group', group_type_index: 0, value: 'gold' };

  it.each<[JsonValue, boolean]>([
    ['acme', true],
    [42, true],
    [0, true],
    ['', false],
    [null, false],
    [true, false],
    [{ id: 1 }, false],
    [['acme'], false],
  ])('with the key %j are evaluated: %s', (company, expected) => {
    const outcome = evaluateOne(groupFlag([]), { groups: { company } }, COMPANY);
    expect(outcome.enabled).toBe(expected);
    if (!expected) expect(outcome.reason).toBe('no_group_type');
  });

  it('hash a number as its JSON text', () => {
    // company-flag.42 draws 0.1019, company-flag.acme-inc 0.9455.
    const flag = groupFlag([], 50);
    const isOn = (company: JsonValue) =>
      evaluateOne(flag, { groups: { company } }, COMPANY).enabled;
    expect([isOn(42), isOn('42'), isOn('acme-inc')]).toEqual([true, true, false]);
  });

  it('have no key when the project does not know the type', () => {
    expect(evaluateOne(groupFlag([]), { groups: { company: 'acme' } }).reason).toBe(
      'no_group_type',
    );
  });

  it('read request properties before stored ones', () => {
    const stored = aStored({ groups: new Map([[0, { tier: 'gold' }]]) });
    const context = { groups: { company: 'acme' }, stored };
    expect(evaluateOne(groupFlag([tier]), context, COMPANY).enabled).toBe(true);
    const sent = { ...context, groupProperties: { company: { tier: 'basic' } } };
    expect(evaluateOne(groupFlag([tier]), sent, COMPANY).enabled).toBe(false);
    expect(evaluateOne(groupFlag([tier]), { groups: { company: 'acme' } }, COMPANY).enabled).toBe(
      false,
    );
  });

  it('offer their own key, whatever the request claims', () => {
    const flag = groupFlag([{ key: '$group_key', type: 'group', value: '42' }]);
    const context = {
      groups: { company: 42 },
      groupProperties: { company: { $group_key: 'other' } },
    };
    expect(evaluateOne(flag, context, COMPANY).enabled).toBe(true);
  });

  it('take the type of the condition when a filter names none', () => {
    const flag = groupFlag([{ key: 'tier', type: 'group', value: 'gold' }]);
    const context = { groups: { company: 'acme' }, groupProperties: { company: { tier: 'gold' } } };
    expect(evaluateOne(flag, context, COMPANY).enabled).toBe(true);
  });

  it('may be mixed with person filters in one condition', () => {
    const flag = { filters: { groups: [aCondition({ properties: [PRO, tier] })] } };
    const context = { personProperties: { plan: 'pro' }, groups: { company: 'acme' } };
    const gold = { groupProperties: { company: { tier: 'gold' } } };
    expect(evaluateOne(flag, { ...context, ...gold }, COMPANY).enabled).toBe(true);
    expect(evaluateOne(flag, context, COMPANY).enabled).toBe(false);
    expect(evaluateOne(flag, { ...gold, groups: { company: 'acme' } }, COMPANY).enabled).toBe(
      false,
    );
  });

  it('that the request does not name are empty apart from the properties it sends', () => {
    const flag = (operator: string) => ({
      filters: { groups: [aCondition({ properties: [{ ...tier, operator }] })] },
    });
    const stored = aStored({ groups: new Map([[0, { tier: 'gold' }]]) });
    expect(evaluateOne(flag('is_not'), { stored }, COMPANY).enabled).toBe(true);
    const sent = { groupProperties: { company: { tier: 'gold' } } };
    expect(evaluateOne(flag('exact'), sent, COMPANY).enabled).toBe(true);
  });

  it('never match a filter without any group type', () => {
    const properties = [{ key: 'tier', type: 'group', operator: 'is_not_set' }];
    expect(
      evaluateOne({ filters: { groups: [aCondition({ properties })] } }, {}, COMPANY).enabled,
    ).toBe(false);
  });

  it('are decided per condition, null meaning person', () => {
    const filters = {
      aggregation_group_type_index: 0,
      groups: [aCondition(), aCondition({ aggregation_group_type_index: null, properties: [PRO] })],
    };
    const outcome = evaluateOne({ filters }, { personProperties: { plan: 'pro' } }, COMPANY);
    expect([outcome.enabled, outcome.conditionIndex]).toEqual([true, 1]);
  });
});
