import { describe, expect, it } from 'vitest';
import { runAtOnce, runInSlices } from './time-slices.ts';

/** Work of so many steps, which notes them. */
function* count(steps: number, done: number[] = []): Generator<void, string> {
  for (let step = 0; step < steps; step += 1) {
    done.push(step);
    yield;
  }
  return `${steps} steps`;
}

function* failAfter(steps: number): Generator<void, never> {
  yield* count(steps);
  throw new Error('no more');
}

/** Work that goes on until somebody else had a turn. */
function* until(isOver: () => boolean): Generator<void, string> {
  while (!isOver()) yield;
  return 'over';
}

describe('runInSlices', () => {
  it('runs every step in order and gives the result', async () => {
    const done: number[] = [];
    expect(await runInSlices(count(100_000, done))).toBe('100000 steps');
    expect(done).toHaveLength(100_000);
    expect(done.at(-1)).toBe(99_999);
  });

  it('takes no turn for work without a step', async () => {
    expect(await runInSlices(count(0))).toBe('0 steps');
  });

  it('lets others have their turn in between', async () => {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
    }, 1);
    expect(await runInSlices(until(() => isOver))).toBe('over');
    clearTimeout(timer);
  });

  it('lets two works take turns', async () => {
    let isFirstOver = false;
    const second = runInSlices(until(() => isFirstOver));
    await runInSlices(count(10));
    isFirstOver = true;
    expect(await second).toBe('over');
  });

  it('rejects with what the work throws, early or late', async () => {
    await expect(runInSlices(failAfter(0))).rejects.toThrow('no more');
    await expect(runInSlices(failAfter(100_000))).rejects.toThrow('no more');
  });
});

describe('runAtOnce', () => {
  it('runs every step and gives the result', () => {
    expect(runAtOnce(count(1_000))).toBe('1000 steps');
  });

  it('throws what the work throws', () => {
    expect(() => runAtOnce(failAfter(3))).toThrow('no more');
  });
});
