import { describe, expect, it } from 'vitest';
import { BoundedCache } from './bounded-cache.ts';

describe('BoundedCache', () => {
  it('has at least the half of its size that was used last', () => {
    const cache = new BoundedCache<string, number>(4);
    for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries()) cache.set(key, index);
    expect([cache.get('d'), cache.get('e')]).toEqual([3, 4]);
  });

  it('forgets what was written first when it is full', () => {
    const cache = new BoundedCache<string, number>(4);
    for (const key of ['a', 'b', 'c', 'd', 'e']) cache.set(key, 1);
    expect([cache.get('a'), cache.get('b')]).toEqual([undefined, undefined]);
  });

  it('has the value that was written last', () => {
    const cache = new BoundedCache<string, number>(4);
    for (const [index, key] of ['a', 'b', 'a', 'c', 'a'].entries()) cache.set(key, index);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([4, 1, 3]);
  });

  it('keeps what is in use, however much is seen only once', () => {
    const cache = new BoundedCache<number, string>(10);
    cache.set(-1, 'in use');
    for (let key = 0; key < 1_000; key += 1) {
      cache.set(key, 'seen once');
      expect(cache.get(-1)).toBe('in use');
    }
  });

  it('stays at its size however much is written', () => {
    const cache = new BoundedCache<number, number>(10);
    for (let key = 0; key < 1_000; key += 1) cache.set(key, key);
    const held = Array.from({ length: 1_000 }, (_, key) => cache.get(999 - key));
    const count = held.filter((value) => value !== undefined).length;
    expect(count).toBeLessThanOrEqual(10);
    expect(count).toBeGreaterThanOrEqual(5);
  });

  it('forgets one entry or all of them', () => {
    const cache = new BoundedCache<string, number>(4);
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, 1);
    cache.delete('a');
    cache.delete('d');
    expect([cache.get('a'), cache.get('b'), cache.get('d')]).toEqual([undefined, 1, undefined]);
    cache.clear();
    expect([cache.get('b'), cache.get('c')]).toEqual([undefined, undefined]);
  });
});
