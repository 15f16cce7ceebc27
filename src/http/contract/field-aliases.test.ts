import { describe, expect, it } from 'vitest';
import { readFieldAliases } from './compiled/read-field-aliases.ts';
import { applyFieldAliases, nameAsSent } from './field-aliases.ts';

const aliases = new Map([
  ['$id', 'id'],
  ['old_name', 'name'],
]);

describe('applyFieldAliases', () => {
  it.each([
    ['another name is read as the listed one', { $id: 'a' }, 'a'],
    ['the listed name goes first', { $id: 'a', id: 'b' }, 'b'],
    ['an empty text under the listed name is a value', { $id: 'a', id: '' }, ''],
    ['null under the listed name is no value', { $id: 'a', id: null }, 'a'],
    ['neither leaves it absent', { other: 1 }, undefined],
  ])('%s', (_rule, body: object, id) => {
    applyFieldAliases(body, aliases);
    expect(Reflect.get(body, 'id')).toBe(id);
  });

  it.each([[null], ['text'], [[1, 2]], [undefined]])('leaves %j as it is', (body) => {
    const copy: unknown = structuredClone(body);
    applyFieldAliases(copy, aliases);
    expect(copy).toEqual(body);
  });
});

describe('nameAsSent', () => {
  it('finds the other name of what was moved, and only of that', () => {
    const body = { $id: 'a', old_name: 'b', name: 'c' };
    applyFieldAliases(body, aliases);
    expect(nameAsSent(body, aliases, 'id')).toBe('$id');
    expect(nameAsSent(body, aliases, 'name')).toBe('name');
    expect(nameAsSent(body, aliases, 'other')).toBe('other');
    expect(nameAsSent(null, aliases, 'id')).toBe('id');
  });
});

describe('readFieldAliases', () => {
  it('reads the extension of a schema', () => {
    expect(readFieldAliases({ 'x-field-aliases': { $id: 'id' } })).toEqual(
      new Map([['$id', 'id']]),
    );
    expect(readFieldAliases({ type: 'object' }).size).toBe(0);
  });
});
