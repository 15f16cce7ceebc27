import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { pickText } from '../read.ts';
import { compareVersions } from './versions.ts';

/** A contract of one version: a released one, or the one that is being worked on. */
export interface VersionedContract {
  readonly version: string;
  readonly document: unknown;
}

/** The folder of the released contracts and of the list of their changes. */
export const RELEASES_FOLDER = fileURLToPath(new URL('../../docs/contract/', import.meta.url));

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const RELEASE = /^openapi-(.+)\.yaml$/;

/** The text of the contract that is being worked on. */
export function readPresentText(): string {
  return readFileSync(`${REPOSITORY}openapi.yaml`, 'utf8');
}

/** The contract that is being worked on, under its own version. */
export function readPresent(): VersionedContract {
  const document: unknown = parse(readPresentText());
  return { version: pickText(document, 'info', 'version'), document };
}

/** The version that the package has. */
export function readPackageVersion(): string {
  const file: unknown = JSON.parse(readFileSync(`${REPOSITORY}package.json`, 'utf8'));
  return pickText(file, 'version');
}

/** The file of a released contract. */
export function releasePath(version: string): string {
  return `${RELEASES_FOLDER}openapi-${version}.yaml`;
}

/** The released contracts by the versions in their file names, the oldest first. */
export function readReleases(): readonly VersionedContract[] {
  return readdirSync(RELEASES_FOLDER)
    .flatMap((name) => RELEASE.exec(name)?.[1] ?? [])
    .toSorted(compareVersions)
    .map((version) => ({
      version,
      document: parse(readFileSync(releasePath(version), 'utf8')),
    }));
}
