import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A fenced block. Its info string says what becomes of it: `sh runnable` is run, `sh not-run: why`
 * is not, and `json shows` or `text shows` is what the block before it has to print.
 */
export interface Block {
  readonly line: number;
  readonly language: string;
  /** `runnable`, `shows`, `not-run: ...` or nothing. */
  readonly mark: string;
  readonly text: string;
}

export interface Page {
  /** From the root of the repository, such as `docs/sdks.md`. */
  readonly path: string;
  readonly text: string;
  /** The text without its blocks, whose content looks like anything. */
  readonly prose: string;
  readonly blocks: readonly Block[];
}

const FENCE = /^```(\S*)[ \t]*(.*)\n([\s\S]*?)^```$/gm;

/** The pages outside `docs/`. */
const TOP = ['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'];

/** Every page for people. */
export function readPages(): Page[] {
  const paths = [...TOP, ...filesOf('docs', '.md')];
  return paths.map((path) => readPage(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The files under a folder of the repository whose names end so. */
export function filesOf(folder: string, ending: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));
}

function readPage(path: string): Page {
  const text = readFileSync(`${REPOSITORY}${path}`, 'utf8');
  const blocks = [...text.matchAll(FENCE)].map(
    ({ index, 1: language = '', 2: mark = '', 3: content = '' }) => ({
      line: text.slice(0, index).split('\n').length,
      language,
      mark: mark.trim(),
      text: content,
    }),
  );
  return { path, text, prose: text.replace(FENCE, ''), blocks };
}

/** The targets of the links and pictures of a page. */
export function linksOf({ prose }: Page): string[] {
  const inline = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const bare = [...prose.matchAll(/<(https?:[^>\s]+)>/g)].map(([, target = '']) => target);
  return [...inline, ...bare];
}

/** The names under which the headings of a page can be linked to, as GitHub makes them. */
export function anchorsOf({ prose }: Page): string[] {
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** What the first column of the tables under a heading has in backticks. */
export function firstColumnOf(page: Page, heading: string): string[] {
  const [, section = ''] = page.prose.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [own = ''] = section.split(/^#+ /m);
  return [...own.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}
