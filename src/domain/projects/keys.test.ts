import { describe, expect, it } from 'vitest';
import { generateKey, hashKey, hintOfKey } from './keys.ts';

describe('generateKey', () => {
  it.each(['phc_', 'phx_', 'phs_'] as const)('draws a %s key of letters and digits', (prefix) => {
    expect(generateKey(prefix)).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{35,43}$`));
  });

  it('never draws the same key twice', () => {
    const keys = Array.from({ length: 1_000 }, () => generateKey('phx_'));
    expect(new Set(keys).size).toBe(1_000);
  });
});

describe('hashKey', () => {
  it('is the SHA-256 of the key, with the name of the method', () => {
    expect(hashKey('phx_abc')).toBe(
      'sha256$5e26f9f4aa7f98042e671fbaa15196a12513a2635898590230de0c25e658279e',
    );
  });
});

describe('hintOfKey', () => {
  it('shows the kind of the key and its end', () => {
    expect(hintOfKey('phx_0123456789abcdef')).toBe('phx_...cdef');
  });
});
