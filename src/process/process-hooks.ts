import { releaseMemory } from './release-memory.ts';
import type { ProcessHooks } from './run-service.ts';

/** The hooks of the real process. A second request to stop ends it at once. */
export function processHooks(env: ProcessHooks['env']): ProcessHooks {
  return {
    env,
    print: (text) => process.stdout.write(`${text}\n`),
    complain: (text) => process.stderr.write(`${text}\n`),
    releaseMemory,
    onStop(stop) {
      let isStopping = false;
      const request = () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        stop();
      };
      process.on('SIGINT', request);
      process.on('SIGTERM', request);
    },
  };
}
