import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemporaryFolder } from '../../test/temporary-folder.ts';
import { pick, pickList, pickNumber } from '../read.ts';
import { installNode } from './install-node.ts';
import { LTS_LINES, QUICK_EXCLUDES, QUICK_TESTS } from './lines.ts';

/**
 * `npm run test:runtimes`: the whole suite on each line of Node.js with long-term support, with the
 * same node_modules. `-- --quick` runs the part that depends on the runtime; majors choose among the
 * lines (`-- --quick 26`). The last line is `N passed, N failed`, over all of them.
 *
 * `-- --list` prints the majors instead, and `-- --install` brings each line here, so that a later
 * run need not.
 */
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const VITEST = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

const majors = process.argv.slice(2).filter((argument) => /^\d+$/.test(argument));
const isQuick = process.argv.includes('--quick');
const chosen = LTS_LINES.filter(
  (version) => majors.length === 0 || majors.includes(version.split('.')[0] ?? ''),
);
if (process.argv.includes('--list')) {
  console.log(chosen.map((version) => version.split('.')[0]).join('\n'));
} else if (process.argv.includes('--install')) {
  for (const version of chosen) console.log(installNode(version));
} else {
  tryLines();
}

function tryLines(): void {
  const results = chosen.map(tryLine);
  const passed = results.reduce((sum, counts) => sum + counts.passed, 0);
  const failed = results.reduce((sum, counts) => sum + counts.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0 || passed === 0) process.exitCode = 1;
}

function tryLine(version: string): Counts {
  const startedAt = performance.now();
  try {
    const counts = runSuite(installNode(version));
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(
      `Node.js ${version}: ${counts.passed} passed, ${counts.failed} failed (${seconds} s)`,
    );
    return counts;
  } catch (error) {
    console.log(`Node.js ${version}: ${error instanceof Error ? error.message : error}`);
    return { passed: 0, failed: 1 };
  }
}

/** Runs the tests with the `node` of this folder, also where a test starts one by its name. */
function runSuite(programs: string): Counts {
  const folder = createTemporaryFolder();
  const report = join(folder.path, 'report.json');
  try {
    const { status, error } = spawnSync(
      join(programs, 'node'),
      [
        ...[VITEST, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
        ...(isQuick ? QUICK_TESTS : []),
        ...(isQuick ? QUICK_EXCLUDES.map((pattern) => `--exclude=${pattern}`) : []),
      ],
      {
        cwd: REPOSITORY,
        env: { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH}` },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    if (error !== undefined) throw error;
    return readCounts(JSON.parse(readFileSync(report, 'utf8')), status === 0);
  } finally {
    folder.remove();
  }
}

/** A file that failed before its tests began counts as one failure, and so does any other fault. */
function readCounts(report: unknown, isGood: boolean): Counts {
  const brokenFiles = pickList(report, 'testResults').filter(
    (file) =>
      pick(file, 'status') === 'failed' &&
      pickList(file, 'assertionResults').every((test) => pick(test, 'status') !== 'failed'),
  );
  const found = pickNumber(report, 'numFailedTests') + brokenFiles.length;
  const failed = found === 0 && !isGood ? 1 : found;
  return { passed: pickNumber(report, 'numPassedTests'), failed };
}
