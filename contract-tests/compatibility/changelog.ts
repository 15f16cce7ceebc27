import { openContract } from '../contract.ts';
import type { Change } from './oasdiff.ts';
import type { VersionedContract } from './releases.ts';
import { compareVersions } from './versions.ts';

type FindChanges = (before: unknown, after: unknown) => readonly Change[];

const HEAD = `# Changes of the contract

What changed in [openapi.yaml](../../openapi.yaml) from release to release, for those who have clients of
it. Every released contract is in this folder.

This page is made by \`npm run contract:changelog\`; do not edit it. What counts as breaking, and which
versions may break, is in [decision 15](../decisions/0015-compatibility.md).
`;

/**
 * The page that lists what changed from release to release, the newest first.
 *
 * @param releases the released contracts, the oldest first
 * @param present what is being worked on; it has a section of its own only when it differs
 */
export function renderChangelog(
  releases: readonly VersionedContract[],
  present: VersionedContract,
  findChanges: FindChanges,
): string {
  const sections = releases.map((release, index) => {
    const previous = releases[index - 1];
    const body =
      previous === undefined
        ? `The first release: ${openContract(release.document).operations.length} operations.\n`
        : renderChanges(findChanges(previous.document, release.document));
    return `## ${release.version}\n\n${body}`;
  });
  const last = releases.at(-1);
  const pending = last === undefined ? [] : findChanges(last.document, present.document);
  if (last !== undefined && pending.length > 0) {
    const isRaised = compareVersions(present.version, last.version) > 0;
    const title = isRaised ? `${present.version}, not released` : `After ${last.version}`;
    sections.push(`## ${title}\n\n${renderChanges(pending)}`);
  }
  return [HEAD, ...sections.toReversed()].join('\n');
}

function renderChanges(changes: readonly Change[]): string {
  const breaking = changes.filter(({ breaks }) => breaks);
  const others = changes.filter(({ breaks }) => !breaks);
  const parts = [
    ...(breaking.length > 0 ? [`### Breaking\n\n${renderList(breaking)}`] : []),
    ...(others.length > 0 ? [`### Compatible\n\n${renderList(others)}`] : []),
  ];
  return parts.length === 0 ? 'No change that a client could notice.\n' : parts.join('\n');
}

/** One row for each text, with the operations that it is true of: a schema often has many. */
function renderList(changes: readonly Change[]): string {
  const operations = new Map<string, string[]>();
  for (const { text, operation } of changes) {
    const known = operations.get(text) ?? [];
    operations.set(text, operation === null ? known : [...known, `\`${operation}\``]);
  }
  return [...operations]
    .map(([text, where]) => `- ${text}${where.length > 0 ? `: ${where.join(', ')}` : ''}\n`)
    .join('');
}
