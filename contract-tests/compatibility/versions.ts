/** The three numbers of a version. */
export type Version = readonly [major: number, minor: number, patch: number];

const THREE_NUMBERS = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/** The numbers of a version such as `0.1.0`; throws for anything else, a pre-release included. */
export function parseVersion(text: string): Version {
  const found = THREE_NUMBERS.exec(text);
  if (found === null) throw new Error(`"${text}" is no version of three numbers.`);
  return [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** Negative when the first comes before the second, positive when after, 0 when they are the same. */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [parseVersion(one), parseVersion(other)];
  return first[0] - second[0] || first[1] - second[1] || first[2] - second[2];
}

/**
 * Whether a step from one version to another may break clients: the first number that is not 0
 * counts as the major (docs/decisions/0015-compatibility.md), so from 0.1.0 to 0.2.0 it may.
 */
export function mayBreak(from: string, to: string): boolean {
  if (compareVersions(from, to) >= 0) return false;
  const [before, after] = [parseVersion(from), parseVersion(to)];
  const leading = before.findIndex((part) => part !== 0);
  const end = leading === -1 ? before.length : leading + 1;
  return before.slice(0, end).some((part, index) => part !== after[index]);
}

/** The lowest version after this one that may break clients. */
export function nextBreakingVersion(version: string): string {
  const [major, minor, patch] = parseVersion(version);
  if (major > 0) return `${major + 1}.0.0`;
  return minor > 0 ? `0.${minor + 1}.0` : `0.0.${patch + 1}`;
}
