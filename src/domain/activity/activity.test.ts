import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../common/json.ts';
import { diffFields, isSameJson } from './activity.ts';

describe('diffFields', () => {
  it.each<[JsonValue, JsonValue, string]>([
    ['', 'text', 'created'],
    [null, 'text', 'created'],
    [[], ['web'], 'created'],
    [{}, { a: 1 }, 'created'],
    ['text', '', 'deleted'],
    ['text', null, 'deleted'],
    [['web'], [], 'deleted'],
    [{ a: 1 }, {}, 'deleted'],
    ['old', 'new', 'changed'],
    [['web'], ['ios'], 'changed'],
    [1, 2, 'changed'],
    [0, 1, 'changed'],
    [false, true, 'changed'],
    [true, false, 'changed'],
  ])('tells the change from %j to %j as %s', (before, after, action) => {
    expect(diffFields('FeatureFlag', { name: before }, { name: after })).toEqual([
      { type: 'FeatureFlag', action, field: 'name', before, after },
    ]);
  });

  it('tells only what differs, in the order of the new state', () => {
    const before = { a: 1, b: { x: [1, { y: 2, z: 3 }] }, c: 'same' };
    const after = { c: 'same', b: { x: [1, { z: 3, y: 2 }] }, a: 2, d: 'new' };
    expect(diffFields('T', before, after).map(({ field }) => field)).toEqual(['a', 'd']);
  });

  it('knows no value before for a field that was not there', () => {
    expect(diffFields('T', {}, { a: 1 })).toMatchObject([{ action: 'created', before: null }]);
    expect(diffFields('T', {}, { a: null })).toEqual([]);
  });
});

describe('isSameJson', () => {
  it.each<[JsonValue, JsonValue, boolean]>([
    [null, null, true],
    [1, 1, true],
    [1, '1', false],
    [null, {}, false],
    [[], {}, false],
    [[1, 2], [1, 2], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [{ a: null }, { b: null }, false],
    [{ a: 1 }, { toString: 1 }, false],
  ])('compares %j with %j: %s', (left, right, expected) => {
    expect(isSameJson(left, right)).toBe(expected);
    expect(isSameJson(right, left)).toBe(expected);
  });
});
