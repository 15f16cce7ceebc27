/** A version (semver.org 2.0.0). Numbers are kept as text: they may exceed what a double holds. */
export interface Version {
  readonly major: string;
  readonly minor: string;
  readonly patch: string;
  /** Pre-release identifiers; empty = a release. */
  readonly preRelease: readonly string[];
}

const CORE_SIZE = 3;
const LARGEST_NUMBER = '18446744073709551615';
const IDENTIFIERS = /^[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*$/;
const DIGITS = /^[0-9]+$/;

/**
 * Reads a version leniently at the edges (spaces, one leading `v`, fewer than three numbers,
 * leading zeros) and strictly otherwise; null when it is not a version.
 */
export function parseVersion(text: string): Version | null {
  const trimmed = text.trim();
  const bare = (trimmed.startsWith('v') ? trimmed.slice(1) : trimmed).trim();
  const plus = bare.indexOf('+');
  const build = plus === -1 ? null : bare.slice(plus + 1);
  if (build !== null && !IDENTIFIERS.test(build)) return null;
  const withoutBuild = plus === -1 ? bare : bare.slice(0, plus);
  const dash = withoutBuild.indexOf('-');
  const preRelease = dash === -1 ? [] : parsePreRelease(withoutBuild.slice(dash + 1));
  const core = parseCore(dash === -1 ? withoutBuild : withoutBuild.slice(0, dash));
  if (core === null || preRelease === null) return null;
  const [major = '0', minor = '0', patch = '0'] = core;
  return { major, minor, patch, preRelease };
}

/**
 * Precedence of two versions: negative, zero or positive. Build metadata does not count
 * (semver.org rule 10).
 */
export function compareVersions(left: Version, right: Version): number {
  return (
    compareNumbers(left.major, right.major) ||
    compareNumbers(left.minor, right.minor) ||
    compareNumbers(left.patch, right.patch) ||
    comparePreReleases(left.preRelease, right.preRelease)
  );
}

/** `~x`: the same major and minor, not below x. */
export function isInTildeRange(version: Version, base: Version): boolean {
  return (
    version.major === base.major &&
    version.minor === base.minor &&
    compareVersions(version, base) >= 0 &&
    isPreReleaseAdmitted(version, base)
  );
}

/** `^x`: not below x, and nothing changed from the leftmost number of x that is not zero. */
export function isInCaretRange(version: Version, base: Version): boolean {
  if (version.major !== base.major) return false;
  if (base.major === '0' && version.minor !== base.minor) return false;
  if (base.major === '0' && base.minor === '0' && version.patch !== base.patch) return false;
  return compareVersions(version, base) >= 0 && isPreReleaseAdmitted(version, base);
}

/** Numbers that a wildcard such as `1.2.*` fixes, at most three; null when it is malformed. */
export function parseWildcard(text: string): readonly string[] | null {
  const trimmed = text.trim();
  const parts = (trimmed.startsWith('v') ? trimmed.slice(1) : trimmed).trim().split('.');
  if (parts.length > CORE_SIZE) return null;
  const firstWild = parts.findIndex(isWild);
  const fixed = firstWild === -1 ? parts : parts.slice(0, firstWild);
  const rest = parts.slice(fixed.length);
  if (!rest.every(isWild)) return null;
  return fixed.length === 0 ? [] : parseCore(fixed.join('.'));
}

/** Whether a release begins with these numbers; a pre-release never does. */
export function isInWildcard(version: Version, fixed: readonly string[]): boolean {
  const core = [version.major, version.minor, version.patch];
  return version.preRelease.length === 0 && fixed.every((number, at) => core[at] === number);
}

function isWild(part: string): boolean {
  return part === '*' || part === 'x' || part === 'X';
}

function parseCore(text: string): string[] | null {
  const parts = text.split('.');
  if (parts.length > CORE_SIZE || !parts.every((part) => DIGITS.test(part))) return null;
  const numbers = parts.map((part) => part.replace(/^0+(?=.)/, ''));
  return numbers.every((number) => compareNumbers(number, LARGEST_NUMBER) <= 0) ? numbers : null;
}

function parsePreRelease(text: string): string[] | null {
  if (!IDENTIFIERS.test(text)) return null;
  const identifiers = text.split('.');
  const hasLeadingZero = identifiers.some((part) => /^0[0-9]+$/.test(part));
  return hasLeadingZero ? null : identifiers;
}

/** Digits without leading zeros compare by length first. */
function compareNumbers(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}

function comparePreReleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (const [at, ours] of left.entries()) {
    const theirs = right[at];
    if (theirs === undefined) return 1;
    const order = compareIdentifiers(ours, theirs);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareIdentifiers(left: string, right: string): number {
  const isLeftNumber = DIGITS.test(left);
  const isRightNumber = DIGITS.test(right);
  if (isLeftNumber && isRightNumber) return compareNumbers(left, right);
  if (isLeftNumber !== isRightNumber) return isLeftNumber ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A pre-release only satisfies a range that names a pre-release of the same three numbers. */
function isPreReleaseAdmitted(version: Version, base: Version): boolean {
  if (version.preRelease.length === 0) return true;
  return (
    base.preRelease.length > 0 &&
    version.major === base.major &&
    version.minor === base.minor &&
    version.patch === base.patch
  );
}
