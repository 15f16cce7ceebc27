/**
 * The newest release of each line of Node.js with long-term support, the oldest line first, as
 * https://github.com/nodejs/Release tells them: 22 until April 2027, 24 until April 2028, 26 until
 * April 2029. The image of deploy/Dockerfile has the newest line.
 */
export const LTS_LINES: readonly string[] = ['22.23.3', '24.21.0', '26.10.0'];

/**
 * What the quick form runs: what depends on the runtime and is fast. That is the rules without a
 * database, how bodies are unpacked, how connections are served, a process that starts, serves and
 * stops, both lanes, and an SDK from end to end.
 */
export const QUICK_TESTS: readonly string[] = [
  'src/domain',
  'src/http/decode',
  'src/http/listener',
  'src/process',
  'contract-tests/closed-output.test.ts',
  'contract-tests/lanes.test.ts',
  'contract-tests/posthog-node.test.ts',
];

/** What the quick form leaves out of these. */
export const QUICK_EXCLUDES: readonly string[] = ['**/*.db.test.ts'];
