import { describe, expect, it } from 'vitest';
import { decompressLz } from './lz-string.ts';

/** Made by lz-string 1.5.0 from a thousand letters. */
const THOUSAND = 'IY18ZXTt/DFOS1b0c17Pd/wYUcSaWeRZVdTbXTEA';

describe('decompressLz', () => {
  it.each([
    ['', 'Q==='],
    ['a', 'IZA='],
    ['abababababab 😀 ÿ€', 'IYI17SAJF4NwAPagf8DUEQ=='],
    ['a'.repeat(1_000), THOUSAND],
  ])('reads %j', (text, packed) => {
    expect(decompressLz(packed, 1_000)).toEqual({ text });
  });

  it('refuses what only looks like padding as quickly as anything else', () => {
    const hostile = `${'='.repeat(2_000_000)}a`;
    expect(decompressLz(hostile, 1_000)).toEqual({ failure: 'damaged' });
  });

  it('builds no more than it may', () => {
    expect(decompressLz(THOUSAND, 999)).toEqual({ failure: 'too long' });
  });

  it.each(['', '=', 'I', 'IY18ZXTt', 'A', '////', 'IZ!=', 'IZÿA'])('refuses %j', (packed) => {
    expect(decompressLz(packed, 1_000)).toEqual({ failure: 'damaged' });
  });
});
