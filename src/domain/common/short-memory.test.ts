import { expect, it } from 'vitest';
import { ShortMemory } from './short-memory.ts';

it('remembers what it was told', () => {
  const memory = new ShortMemory<string, number>(2);
  memory.set('a', 1);
  memory.set('b', 2);
  expect([memory.get('a'), memory.get('b'), memory.get('c')]).toEqual([1, 2, undefined]);
});

it('never holds more than it may', () => {
  const memory = new ShortMemory<number, number>(3);
  for (let key = 0; key < 10; key += 1) memory.set(key, key);
  const held = Array.from({ length: 10 }, (_, key) => memory.get(key)).filter(
    (value) => value !== undefined,
  );
  expect(held.length).toBeLessThanOrEqual(3);
  expect(memory.get(9)).toBe(9);
});
