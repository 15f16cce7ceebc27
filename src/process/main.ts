import { setUpAllocator } from './memory-allocator.ts';

// First of all, and before the rest is loaded: it may start the program again.
setUpAllocator(process.env);
const [{ processHooks }, { runService }, { outliveReaders }] = await Promise.all([
  import('./process-hooks.ts'),
  import('./run-service.ts'),
  import('./standard-output.ts'),
]);
outliveReaders();
process.exitCode = await runService(processHooks(process.env));
