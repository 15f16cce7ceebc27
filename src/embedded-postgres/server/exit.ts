const cleanups = new Set<() => void>();
let isHooked = false;

/**
 * Runs the synchronous `cleanup` when Node exits without having stopped the database, so that a
 * detached PostgreSQL does not outlive a normal exit. Returns the function that calls it off.
 */
export function onProcessExit(cleanup: () => void): () => void {
  if (!isHooked) {
    isHooked = true;
    process.once('exit', () => {
      for (const run of cleanups) run();
    });
  }
  cleanups.add(cleanup);
  return () => {
    cleanups.delete(cleanup);
  };
}
