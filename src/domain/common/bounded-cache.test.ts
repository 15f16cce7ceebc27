import { describe, expect, it } from 'vitest';
import { BoundedCache } from './bounded-cache.ts';

describe('BoundedCache', () => {
  it('holds as many entries as it may, and forgets the one written first', () => {
    const cache = new BoundedCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([undefined, 2, 3]);
  });

  it('counts an entry that is written again as new', () => {
    const cache = new BoundedCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('a', 3);
    cache.set('c', 4);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([3, undefined, 4]);
  });

  it('stays at its size however much is written', () => {
    const cache = new BoundedCache<number, number>(10);
    for (let key = 0; key < 1_000; key += 1) cache.set(key, key);
    const held = Array.from({ length: 1_000 }, (_, key) => cache.get(key));
    expect(held.filter((value) => value !== undefined)).toHaveLength(10);
  });

  it('forgets one entry or all of them', () => {
    const cache = new BoundedCache<string, number>(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    cache.delete('a');
    expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 1]);
    cache.clear();
    expect([cache.get('b'), cache.get('c')]).toEqual([undefined, undefined]);
  });
});
