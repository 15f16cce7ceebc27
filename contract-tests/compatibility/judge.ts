import type { Change } from './oasdiff.ts';
import type { VersionedContract } from './releases.ts';
import { compareVersions, mayBreak } from './versions.ts';

/**
 * Why one contract cannot follow another, or null: its version is older, or something breaks and the
 * version does not say so.
 *
 * @param changes what changed between the two
 */
export function judgeStep(
  before: VersionedContract,
  after: VersionedContract,
  changes: readonly Change[],
): string | null {
  if (compareVersions(before.version, after.version) > 0)
    return `${after.version} is older than ${before.version}`;
  const breaking = changes.filter(({ breaks }) => breaks);
  if (breaking.length === 0 || mayBreak(before.version, after.version)) return null;
  const list = breaking.map(
    ({ id, text, operation }) => `\n  ${operation ?? '-'}: ${text} [${id}]`,
  );
  return `a change breaks clients, and from ${before.version} to ${after.version} it must not${list.join('')}`;
}
