import { expect, it } from 'vitest';
import { releaseMemory } from './release-memory.ts';

it('frees at once what nobody holds, and leaves no trace of how', async () => {
  const garbage = new WeakRef({ megabytes: new Array(1_000_000).fill(0) });
  // What a turn of the event loop has looked at stays until it ends.
  await new Promise((resolve) => setImmediate(resolve));
  releaseMemory();
  expect(garbage.deref()).toBeUndefined();
  expect(globalThis).not.toHaveProperty('gc');
});
