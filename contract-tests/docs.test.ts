import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../src/app/config.ts';
import { readContract } from './contract.ts';
import { codesOfExamples, codesOfSource } from './docs/error-codes.ts';
import {
  anchorsOf,
  type Block,
  firstColumnOf,
  linksOf,
  type Page,
  REPOSITORY,
  readPages,
} from './docs/pages.ts';
import { runBlock } from './docs/run-block.ts';
import { pick } from './read.ts';
import { LTS_LINES } from './runtimes/lines.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const pages = readPages();

/** Blocks that a reader would type or copy into a program. Others show something. */
const COMMANDS = ['sh', 'js', 'ts', 'python', 'go', 'ruby', 'php', 'java', 'swift', 'kotlin'];
const RUNNABLE = ['sh', 'js'];

/** Contributors run these all day; the README of the package is what newcomers paste. */
const UNMARKED = ['CONTRIBUTING.md'];

function pageOf(path: string): Page {
  const page = pages.find((candidate) => candidate.path === path);
  if (page === undefined) throw new Error(`There is no ${path}.`);
  return page;
}

const isRunnable = ({ mark }: Block) => mark === 'runnable';

describe('commands on the pages', () => {
  for (const page of pages.filter(({ blocks }) => blocks.some(isRunnable))) {
    describe(page.path, () => {
      let burgee: StartedBurgee;

      beforeAll(async () => {
        burgee = await startBurgee();
      });

      afterAll(async () => {
        await burgee.stop();
      });

      for (const [index, block] of page.blocks.entries()) {
        if (!isRunnable(block)) continue;
        const next = page.blocks[index + 1];
        const shown = next?.mark === 'shows' ? next : null;
        it(`do in line ${block.line} what the page ${shown === null ? 'says' : 'shows'}`, async () => {
          const { code, output, errors } = await runBlock(block, burgee);
          expect(code, `${output}\n${errors}`).toBe(0);
          if (shown?.language === 'json') {
            const expected: object = JSON.parse(shown.text);
            expect(JSON.parse(output)).toMatchObject(expected);
          } else if (shown !== null) expect(output).toBe(shown.text);
        }, 60_000);
      }
    });
  }

  it('are run, or say why they are not', () => {
    const commands = pages
      .filter(({ path }) => !UNMARKED.includes(path))
      .flatMap(({ path, blocks }) =>
        blocks
          .filter(({ language }) => COMMANDS.includes(language))
          .map((block) => ({ place: `${path}:${block.line}`, ...block })),
      );
    const notRun = commands.filter((block) => !isRunnable(block));
    process.stdout.write(
      `Not run:\n${notRun.map(({ place, mark }) => `  ${place} ${mark}\n`).join('')}`,
    );
    expect(notRun.filter(({ mark }) => !/^not-run: \S/.test(mark))).toEqual([]);
    expect(commands.filter(isRunnable).length).toBeGreaterThan(15);
  });

  it('have marks that mean something', () => {
    for (const { path, blocks } of pages) {
      for (const [index, { line, language, mark }] of blocks.entries()) {
        const place = `${path}:${line} ${mark}`;
        expect(mark, place).toMatch(/^(|runnable|shows|not-run: .+)$/);
        if (mark === 'runnable') expect(RUNNABLE, place).toContain(language);
        if (mark === 'shows') expect(blocks[index - 1]?.mark, place).toBe('runnable');
      }
    }
  });
});

describe('links', () => {
  for (const page of pages) {
    it(`of ${page.path} lead somewhere`, () => {
      expect(linksOf(page).filter((target) => !leadsSomewhere(page, target))).toEqual([]);
    });
  }

  it('lead from the index to every page', () => {
    const listed = linksOf(pageOf('docs/README.md')).map((target) => `docs/${target}`);
    const guides = pages
      .map(({ path }) => path)
      .filter((path) => /^docs\/[^/]+\.md$/.test(path) && path !== 'docs/README.md');
    expect(listed).toEqual(expect.arrayContaining(guides));
  });
});

/** Links to other sites are only looked at; the others have to lead to a file and a heading. */
function leadsSomewhere(page: Page, target: string): boolean {
  if (/^[a-z]+:/.test(target)) return URL.canParse(target) && /^https?:/.test(target);
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page.path : join(dirname(page.path), file);
  if (!existsSync(join(REPOSITORY, path))) return false;
  if (anchor === undefined) return true;
  const linked = pages.find((candidate) => candidate.path === path);
  return linked !== undefined && anchorsOf(linked).includes(anchor);
}

/** The variables that the configuration asks for. */
function variablesOfCode(): string[] {
  const asked = new Set<string>();
  readConfig(
    new Proxy<Record<string, string>>(
      {},
      {
        get(_target, name) {
          asked.add(String(name));
          return undefined;
        },
      },
    ),
  );
  return [...asked].toSorted();
}

describe('configuration', () => {
  it('is described variable by variable', () => {
    const described = firstColumnOf(pageOf('docs/configuration.md'), 'Variables');
    expect(described.toSorted()).toEqual(variablesOfCode());
  });

  it('has in the files for operators no variable that does not exist', () => {
    const files = ['Dockerfile', 'compose.yaml', 'burgee.service'];
    const named = files.flatMap(
      (file) => read(`deploy/${file}`).match(/\b(BURGEE_\w+|DATABASE_URL|LOG_LEVEL)\b/g) ?? [],
    );
    // Compose's own: the port that the host opens.
    const known = [...variablesOfCode(), 'BURGEE_PUBLISH'];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
    expect(named).toContain('BURGEE_DATA_DIR');
  });
});

describe('errors', () => {
  const documented = [
    ...firstColumnOf(pageOf('docs/errors.md'), 'Codes'),
    ...firstColumnOf(pageOf('docs/errors.md'), 'Reasons'),
  ];

  it('has a row for each code that the source knows', () => {
    const codes = [...codesOfSource()];
    expect(codes).toEqual(expect.arrayContaining(['unique', 'conflict', 'invalid_operator']));
    expect(codes.filter((code) => !documented.includes(code))).toEqual([]);
  });

  it('has a row for each code that the contract shows', () => {
    const codes = [...codesOfExamples(readContract())];
    expect(codes).toEqual(expect.arrayContaining(['unique', 'condition_match']));
    expect(codes.filter((code) => !documented.includes(code))).toEqual([]);
  });

  it('has one row for each, and none for another', () => {
    expect(documented.toSorted()).toEqual([...new Set(documented)].toSorted());
    const known = new Set([...codesOfSource(), ...codesOfExamples(readContract())]);
    expect(documented.filter((code) => !known.has(code))).toEqual([]);
  });
});

describe('self-hosting', () => {
  it('names metrics that there are', async () => {
    const burgee = await startBurgee();
    const { text } = await burgee.request('GET', '/metrics');
    await burgee.stop();
    const named = firstColumnOf(pageOf('docs/self-hosting.md'), 'Health and metrics').filter(
      (name) => name.startsWith('burgee_'),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });

  it('has an image on the newest Node.js with long-term support, without root, with its health', () => {
    const file = read('deploy/Dockerfile');
    const majors = [...file.matchAll(/^FROM node:(\d+)-/gm)].map(([, major]) => Number(major));
    const newest = Number(LTS_LINES.at(-1)?.split('.')[0]);
    expect(majors).toEqual([newest, newest]);
    expect(file).toMatch(/^USER node$/m);
    expect(file).toMatch(/^HEALTHCHECK [\s\S]*_readiness/m);
    expect(file).toMatch(/^VOLUME \/var\/lib\/burgee$/m);
  });

  it('has a compose file with one service, and a database where it is asked for', () => {
    const compose: unknown = parse(read('deploy/compose.yaml'));
    expect(pick(compose, 'services', 'burgee', 'profiles')).toBeUndefined();
    expect(pick(compose, 'services', 'burgee', 'volumes')).toEqual(['data:/var/lib/burgee']);
    expect(pick(compose, 'services', 'postgres', 'profiles')).toEqual(['postgres']);
    const build = pick(compose, 'services', 'burgee', 'build', 'dockerfile');
    expect(existsSync(join(REPOSITORY, String(build)))).toBe(true);
  });
});

function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8');
}
