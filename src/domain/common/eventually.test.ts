import { describe, expect, it } from 'vitest';
import { andThen, type Eventually } from './eventually.ts';

const double = (value: number): Eventually<number> => value * 2;

describe('andThen', () => {
  it('goes on at once with a value that is there', () => {
    expect(andThen(21, double)).toBe(42);
  });

  it('waits for a value that comes later', async () => {
    const later = andThen(Promise.resolve(21), double);
    expect(later).toBeInstanceOf(Promise);
    await expect(later).resolves.toBe(42);
  });

  it('waits for what the next step waits for', async () => {
    await expect(andThen(21, async (value) => value * 2)).resolves.toBe(42);
  });

  it('throws, or rejects, with what the next step throws', async () => {
    const fail = (): never => {
      throw new Error('no');
    };
    expect(() => andThen(1, fail)).toThrow('no');
    await expect(andThen(Promise.resolve(1), fail)).rejects.toThrow('no');
  });
});
