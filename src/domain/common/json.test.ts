import { describe, expect, it } from 'vitest';
import { isJson, isJsonObject } from './json.ts';

describe('isJsonObject', () => {
  it.each([[{}], [{ a: 1 }], [JSON.parse('{"__proto__": 1}')]])('accepts %j', (value) => {
    expect(isJsonObject(value)).toBe(true);
  });

  it.each([[null], [undefined], [[]], [[{}]], ['{}'], [0], [true]])('refuses %j', (value) => {
    expect(isJsonObject(value)).toBe(false);
  });
});

describe('isJson', () => {
  it.each([[null], [false], [0], [''], [[]], [{}]])('accepts %j', (value) => {
    expect(isJson(value)).toBe(true);
  });

  it('refuses what was never sent', () => {
    expect(isJson(undefined)).toBe(false);
  });
});
