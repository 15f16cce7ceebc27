import { describe, expect, it } from 'vitest';
import { aCondition, aFlag, evaluateProject } from '../../../../test/builders.ts';
import type { JsonValue } from '../../common/json.ts';

/** Whether a person with this `plan` matches a filter with each of the values, in one project. */
function matchAll(plan: JsonValue, operator: string, values: readonly JsonValue[]): boolean[] {
  const flags = values.map((value, at) =>
    aFlag({
      id: at + 1,
      key: `f${at}`,
      filters: { groups: [aCondition({ properties: [{ key: 'plan', operator, value }] })] },
    }),
  );
  const { outcomes } = evaluateProject({ flags }, { personProperties: { plan } });
  return values.map((_, at) => outcomes[`f${at}`]?.enabled === true);
}

describe('filters of one project that differ little', () => {
  const infinite = JSON.parse('1e999');

  it.each<[JsonValue, string, JsonValue[], boolean[]]>([
    ['1', 'exact', [1, '1', [1], ['1'], 2], [true, true, true, true, false]],
    ['null', 'exact', ['null', 'nil', [null], [infinite]], [true, false, true, true]],
    [5, 'lt', [infinite, null, 4], [true, false, false]],
    [5, 'lt', [null, infinite, 4], [false, true, false]],
    ['ab', 'exact', [['a,b'], ['a', 'b'], 'ab', ['ab']], [false, false, true, true]],
  ])('a plan of %j: %s %j is %j', (plan, operator, values, expected) => {
    expect(matchAll(plan, operator, values)).toEqual(expected);
  });

  it('differ by operator', () => {
    expect(matchAll('pro', 'exact', ['pro'])).toEqual([true]);
    expect(matchAll('pro', 'is_not', ['pro'])).toEqual([false]);
    const flags = ['exact', 'is_not', 'is_set', 'is_not_set'].map((operator, at) =>
      aFlag({
        id: at,
        key: operator,
        filters: {
          groups: [aCondition({ properties: [{ key: 'plan', operator, value: 'pro' }] })],
        },
      }),
    );
    const { outcomes } = evaluateProject({ flags }, { personProperties: { plan: 'PRO' } });
    expect(Object.values(outcomes).map(({ enabled }) => enabled)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('may be nested absurdly', () => {
    const depth = 100_000;
    const nested: JsonValue = JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`);
    expect(matchAll('pro', 'exact', [nested, 'pro'])).toEqual([false, true]);
  });
});
