import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { renderChangelog } from './changelog.ts';
import { judgeStep } from './judge.ts';
import { findChanges, installOasdiff } from './oasdiff.ts';
import {
  RELEASES_FOLDER,
  readPackageVersion,
  readPresent,
  readPresentText,
  readReleases,
  releasePath,
  type VersionedContract,
} from './releases.ts';
import { BREAKING, COMPATIBLE, enact, type Trial } from './trials.ts';
import { nextBreakingVersion } from './versions.ts';

/**
 * The contract against the released ones in `docs/contract/` (docs/decisions/0015-compatibility.md):
 *
 *     check       what the gate runs; the last line is `N passed, N failed`
 *     install     compiles oasdiff, so that a later command need not
 *     changelog   writes the list of changes anew
 *     release     keeps the present contract as the released one of its version, and writes the list;
 *                 with --replace also over a release that has reached nobody
 */
const CHANGELOG = `${RELEASES_FOLDER}CHANGELOG.md`;

const [command = 'check', ...options] = process.argv.slice(2);
try {
  if (command === 'check') check();
  else if (command === 'install') console.log(installOasdiff());
  else if (command === 'changelog') writeChangelog();
  else if (command === 'release') release(options.includes('--replace'));
  else throw new Error(`There is no command "${command}".`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (command === 'check') console.log('0 passed, 1 failed');
  process.exitCode = 1;
}

function check(): void {
  const oasdiff = installOasdiff();
  const present = readPresent();
  const results = [
    ...checkSteps(oasdiff, [...readReleases(), present]),
    report('the list of changes is fresh', checkChangelog(oasdiff)),
    ...BREAKING.flatMap((trial) => tryBreaking(oasdiff, present, trial)),
    ...COMPATIBLE.map((trial) => tryCompatible(oasdiff, present, trial)),
  ];
  const passed = results.filter(Boolean).length;
  console.log(`${passed} passed, ${results.length - passed} failed`);
  if (passed < results.length) process.exitCode = 1;
}

/** Whether each release could follow the one before it, and the present contract the last. */
function checkSteps(oasdiff: string, contracts: readonly VersionedContract[]): boolean[] {
  if (contracts.length < 2)
    return [report('there is a release', 'run "npm run contract:release" and commit the file')];
  return contracts.slice(1).map((contract, index) => {
    const before = contracts[index] ?? contract;
    const isPresent = index === contracts.length - 2;
    const changes = findChanges(oasdiff, before.document, contract.document);
    return report(
      `${isPresent ? 'openapi.yaml' : contract.version} may follow the release ${before.version}`,
      judgeStep(before, contract, changes),
    );
  });
}

/** The gate refuses this change under the same version, and lets it pass under the next breaking one. */
function tryBreaking(oasdiff: string, { version, document }: VersionedContract, trial: Trial) {
  const { before, after } = enact(trial, document);
  const changes = findChanges(oasdiff, before, after);
  const judge = (next: string) =>
    judgeStep({ version, document: before }, { version: next, document: after }, changes);
  const isNamed = changes.some(({ id, breaks }) => breaks && id === trial.found);
  const refused = judge(version);
  const raised = nextBreakingVersion(version);
  return [
    report(
      `refused: ${trial.what}`,
      refused !== null && isNamed ? null : `it passed, or not for ${trial.found}: ${refused}`,
    ),
    report(`accepted as ${raised}: ${trial.what}`, judge(raised)),
  ];
}

function tryCompatible(oasdiff: string, { version, document }: VersionedContract, trial: Trial) {
  const { before, after } = enact(trial, document);
  const changes = findChanges(oasdiff, before, after);
  const isNamed = changes.some(({ id }) => id === trial.found);
  const fault = judgeStep({ version, document: before }, { version, document: after }, changes);
  return report(`accepted: ${trial.what}`, isNamed ? fault : `${trial.found} was not found`);
}

function checkChangelog(oasdiff: string): string | null {
  const kept = existsSync(CHANGELOG) ? readFileSync(CHANGELOG, 'utf8') : '';
  return kept === changelogOf(oasdiff) ? null : 'run "npm run contract:changelog"';
}

function changelogOf(oasdiff: string): string {
  return renderChangelog(readReleases(), readPresent(), (before, after) =>
    findChanges(oasdiff, before, after),
  );
}

function writeChangelog(): void {
  writeFileSync(CHANGELOG, changelogOf(installOasdiff()));
  console.log(`Wrote ${nameOf(CHANGELOG)}.`);
}

function release(mayReplace: boolean): void {
  const oasdiff = installOasdiff();
  const present = readPresent();
  const { version } = present;
  if (version !== readPackageVersion())
    throw new Error(`openapi.yaml says ${version}, package.json says ${readPackageVersion()}.`);
  const path = releasePath(version);
  const isReleased = existsSync(path);
  if (isReleased && readFileSync(path, 'utf8') !== readPresentText() && !mayReplace)
    throw new Error(
      `${nameOf(path)} is another text, and what is released stays as it is. Raise the version in ` +
        'package.json, package-lock.json and openapi.yaml. Only when that release has reached ' +
        'nobody: npm run contract:release -- --replace',
    );
  const before = readReleases()
    .filter((other) => other.version !== version)
    .at(-1);
  const fault =
    before === undefined
      ? null
      : judgeStep(before, present, findChanges(oasdiff, before.document, present.document));
  if (fault !== null) throw new Error(fault);
  writeFileSync(path, readPresentText());
  console.log(`${isReleased ? 'Replaced' : 'Wrote'} ${nameOf(path)}.`);
  writeChangelog();
}

/** Prints how a check went; returns whether it passed. */
function report(what: string, fault: string | null): boolean {
  console.log(fault === null ? `ok: ${what}` : `FAILED: ${what}: ${fault}`);
  return fault === null;
}

function nameOf(path: string): string {
  return relative(process.cwd(), path);
}
