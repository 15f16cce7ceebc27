import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openContract } from '../contract.ts';
import { pickText } from '../read.ts';
import { RELEASES_FOLDER, readPackageVersion, readPresent, readReleases } from './releases.ts';
import { compareVersions } from './versions.ts';

describe('the contract', () => {
  it('has the version of the package', () => {
    const version = readPackageVersion();
    expect(readPresent().version).toBe(version);
    const lock: unknown = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    expect(pickText(lock, 'version')).toBe(version);
  });
});

describe('the released contracts', () => {
  const releases = readReleases();

  it('are there', () => {
    expect(releases.length).toBeGreaterThan(0);
  });

  it.each(releases)('$version is the contract of that version', ({ version, document }) => {
    expect(pickText(document, 'info', 'version')).toBe(version);
    expect(openContract(document).operations.length).toBeGreaterThan(0);
  });

  it('are not newer than the package', () => {
    const newer = releases.filter(
      ({ version }) => compareVersions(version, readPackageVersion()) > 0,
    );
    expect(newer.map(({ version }) => version)).toEqual([]);
  });

  it('each have a section in the list of changes', () => {
    const path = `${RELEASES_FOLDER}CHANGELOG.md`;
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    for (const { version } of releases) expect(text).toContain(`\n## ${version}\n`);
  });
});
