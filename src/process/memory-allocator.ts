/**
 * How the allocator of glibc, which holds what V8 does not (bodies, what unpacks them, long texts),
 * is to give memory back. Left alone it raises its thresholds with the largest block that it ever
 * freed, and has an arena for each thread: after one large body the service would keep all that later
 * ones free, a hundred megabytes and more. Named thresholds stay where they are.
 */
export const ALLOCATOR_SETTINGS: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

/** Tells the program that has replaced itself that these settings are its own. */
const MARK = 'BURGEE_ALLOCATOR_IS_SET';

/** By these an operator has chosen settings, or another allocator. */
const CHOICE = /^(?:MALLOC_|GLIBC_TUNABLES$|LD_PRELOAD$)/;

/**
 * Starts the program again with those settings, in the same process: the allocator reads them when a
 * program begins, and at no other time. To be called before anything else is loaded. Does nothing
 * where Node.js cannot replace its program (before 22.15, or not on Linux), where an operator has
 * chosen settings, or where a parent or a debugger talks to the process and would lose it.
 * `env` is the environment of the process; what only this function needs is taken out of it.
 */
export function setUpAllocator(env: NodeJS.ProcessEnv): void {
  if (env[MARK] !== undefined) {
    // They are not for the programs that this one starts.
    for (const name of [MARK, ...Object.keys(ALLOCATOR_SETTINGS)]) delete env[name];
    return;
  }
  const replace: unknown = Reflect.get(process, 'execve');
  if (process.platform !== 'linux' || typeof replace !== 'function') return;
  if (process.connected || process.execArgv.some((option) => option.startsWith('--inspect')))
    return;
  if (Object.keys(env).some((name) => CHOICE.test(name))) return;
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const settings = { ...env, ...ALLOCATOR_SETTINGS, [MARK]: '1' };
  Reflect.apply(replace, process, [process.execPath, program, settings]);
}
