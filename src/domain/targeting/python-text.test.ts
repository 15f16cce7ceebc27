import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../common/json.ts';
import { pythonRepr, pythonTypeName } from './python-text.ts';

describe('pythonTypeName', () => {
  it.each<[JsonValue, string]>([
    [null, 'NoneType'],
    [true, 'bool'],
    [1, 'int'],
    [-1.5, 'float'],
    ['x', 'str'],
    [[], 'list'],
    [{}, 'dict'],
  ])('calls %j %s', (value, name) => {
    expect(pythonTypeName(value)).toBe(name);
  });
});

describe('pythonRepr', () => {
  it.each<[JsonValue, string]>([
    [null, 'None'],
    [true, 'True'],
    [false, 'False'],
    [5, '5'],
    [1.5, '1.5'],
    ['x', "'x'"],
    ["it's", '"it\'s"'],
    ['say "hi"', '\'say "hi"\''],
    ['it\'s "both"', "'it\\'s \"both\"'"],
    ['a\\b\nc', "'a\\\\b\\nc'"],
    [[], '[]'],
    [['x', true, null], "['x', True, None]"],
    [{}, '{}'],
    [{ a: [1], b: 'c' }, "{'a': [1], 'b': 'c'}"],
  ])('prints %j', (value, text) => {
    expect(pythonRepr(value)).toBe(text);
  });
});
