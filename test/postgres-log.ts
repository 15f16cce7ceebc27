import type { LaunchLog } from '../src/embedded-postgres/install/options.ts';

/** Passes over what the launcher reports; a start that fails throws anyway. */
export const quietLog: LaunchLog = { info: () => {}, warn: () => {}, error: () => {} };
