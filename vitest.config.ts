import { availableParallelism, totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';

/** What a worker takes at most, with the Burgees that it starts and its share of PostgreSQL. */
const WORKER_BYTES = 1024 ** 3;
/** The run's PostgreSQL has connections for so many. */
const WORKERS_MAX = 12;
/** A container may have less memory than its machine; a limit that is not set is 0 or undefined. */
const memory = Math.min(totalmem(), process.constrainedMemory() || totalmem());
const workers = Math.min(availableParallelism(), Math.floor(memory / WORKER_BYTES), WORKERS_MAX);

/** Tests of what the contract tests are made of. They start nothing, so they are unit tests. */
const PURE = [
  'contract-tests/compatibility/*.test.ts',
  'contract-tests/query-room.test.ts',
  'contract-tests/runtimes/*.test.ts',
];

/** Tests of the contract with tools and SDKs, which take their time. */
const TOOLS = [
  'test/contract-lint.test.ts',
  'test/differential/*.test.ts',
  'test/generated.test.ts',
];

const DATABASE = ['src/**/*.db.test.ts', 'test/**/*.db.test.ts'];

const SHARED = { pool: 'forks', testTimeout: 60_000, hookTimeout: 90_000 } as const;

/**
 * Three projects, chosen with `--project`: `unit` needs neither a database nor a service, `db` needs
 * a database, and `contract` starts Burgee. PostgreSQL is started by the first file that asks for a
 * database, so a run without one starts nothing. The setup belongs to the root and is not inherited:
 * otherwise each project would start one. Files of `unit` and `db` share the modules that a worker
 * has loaded; those of `contract` do not, since they load SDKs and tools that may keep state.
 */
export default defineConfig({
  test: {
    globalSetup: ['test/global-setup.ts'],
    maxWorkers: Math.max(1, workers),
    projects: [
      {
        test: {
          ...SHARED,
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', ...PURE],
          exclude: [...DATABASE, ...TOOLS],
          isolate: false,
          // There is no database here: a file that asks for one is told where it belongs.
          provide: { templateUrl: '' },
        },
      },
      { test: { ...SHARED, name: 'db', include: DATABASE, isolate: false } },
      {
        test: {
          ...SHARED,
          name: 'contract',
          include: ['contract-tests/**/*.test.ts', ...TOOLS],
          exclude: PURE,
        },
      },
    ],
  },
});
