import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CHANGE_LISTENER = 'src/domain/snapshots/change-listener.ts';
const LINES_MAX = 300;
const FILES_MAX = 14;

/** One file, by its path from the root of the checkout. */
interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** What it imports: packages as they are named, files by their path from the root. */
  readonly imports: readonly string[];
}

const IMPORT =
  /^(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

function readFolder(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, text, imports: importsOf(path, text) };
    });
}

function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, declared, dynamic]) => {
    const name = declared ?? dynamic ?? '';
    const isFile = name.startsWith('.');
    return isFile ? relative(ROOT, resolve(ROOT, dirname(path), name)) : name;
  });
}

const isTest = ({ path }: SourceFile) => path.endsWith('.test.ts');

const source = readFolder('src');
const shipped = source.filter((file) => !isTest(file));
const tests = [
  ...source.filter(isTest),
  ...readFolder('test'),
  ...readFolder('contract-tests'),
].filter(({ path }) => path !== 'test/architecture.test.ts');

/** A rule about the files whose path matches: which imports they may have. */
interface Rule {
  readonly title: string;
  readonly files: RegExp;
  readonly allows: (name: string, path: string) => boolean;
}

const isNode = (name: string) => name.startsWith('node:');
const isIn = (...folders: string[]) => {
  return (name: string) => folders.some((folder) => name.startsWith(`src/${folder}/`));
};
const isOneOf = (...names: string[]) => {
  return (name: string) => names.includes(name);
};

/** The folder of one noun of the domain: `src/domain/flags/`. */
function nounOf(path: string): string {
  return /^src\/domain\/[^/]+\//.exec(path)?.[0] ?? '';
}

const HTTP_PACKAGES = [
  '@hapi/hapi',
  'openapi-backend',
  'openapi-types',
  'ajv',
  'ajv/dist/standalone/index.js',
  'ajv-formats',
];
const JSON_TYPES = 'src/domain/common/json.ts';
const isShared = isIn('domain/common');
const isEngine = isIn('domain/evaluation');

/** Rooms from the top of the house to the bottom; each may import what its rule allows. */
const rules: readonly Rule[] = [
  {
    title: 'the HTTP side knows no handler, no database and of the domain only shared values',
    files: /^src\/http\//,
    allows: (name) =>
      isNode(name) ||
      isIn('http', 'operations')(name) ||
      isShared(name) ||
      isOneOf(...HTTP_PACKAGES, 'yaml', 'prom-client')(name),
  },
  {
    title: 'handlers know the types of operations and the domain, but hear of no change',
    files: /^src\/handlers\//,
    allows: (name) =>
      isNode(name) ||
      isIn('handlers', 'operations')(name) ||
      (name.startsWith('src/domain/') && name !== CHANGE_LISTENER),
  },
  {
    title: 'what HTTP and handlers share comes from the generated contract and shared values',
    files: /^src\/operations\//,
    allows: (name) =>
      isNode(name) || name === 'generated/api.ts' || isIn('operations')(name) || isShared(name),
  },
  {
    title: 'snapshots know the engine, the database and what nouns can be asked, and no command',
    files: /^src\/domain\/snapshots\//,
    allows: (name) => (isIn('domain')(name) ? !/-commands\.ts$/.test(name) : isLibrary(name)),
  },
  {
    title:
      'a noun knows itself, the database, the engine, and of others their types, queries and writes',
    files: /^src\/domain\/(?!evaluation\/|snapshots\/|database\/|common\/|targeting\/)[^/]+\//,
    allows: (name, path) =>
      isLibrary(name) ||
      name.startsWith(nounOf(path)) ||
      (isIn('domain')(name) && !isIn('domain/snapshots')(name) && !/-commands\.ts$/.test(name)),
  },
  {
    title: 'rules about targeting know the engine and shared values',
    files: /^src\/domain\/targeting\//,
    allows: (name) =>
      isLibrary(name) || isIn('domain/targeting')(name) || isEngine(name) || isShared(name),
  },
  {
    title: 'the engine knows itself, JSON and node:crypto',
    files: /^src\/domain\/evaluation\//,
    allows: (name) => isEngine(name) || isOneOf(JSON_TYPES, 'node:crypto')(name),
  },
  {
    title: 'matching does not know how definitions are prepared',
    files: /^src\/domain\/evaluation\/match\//,
    allows: (name) => !isIn('domain/evaluation/prepare')(name),
  },
  {
    title: 'the values and the bucketing of the engine know nothing above them',
    files: /^src\/domain\/evaluation\/(?:values|bucketing)\//,
    allows: (name) =>
      isIn('domain/evaluation/values', 'domain/evaluation/bucketing')(name) ||
      isOneOf(JSON_TYPES, 'node:crypto')(name),
  },
  {
    title: 'the database knows no noun',
    files: /^src\/domain\/database\//,
    allows: (name) =>
      isLibrary(name) ||
      isShared(name) ||
      isIn('domain/database')(name) ||
      name === 'migrations/index.ts',
  },
  {
    title: 'shared values know nothing but themselves',
    files: /^src\/domain\/common\//,
    allows: (name) => isLibrary(name) || isShared(name),
  },
  {
    title: 'the embedded PostgreSQL knows nothing of what is stored in it',
    files: /^src\/embedded-postgres\//,
    allows: (name) => isLibrary(name) || isIn('embedded-postgres')(name),
  },
];

/** Packages and modules of Node that are not for the HTTP side alone. */
function isLibrary(name: string): boolean {
  return (
    !name.startsWith('src/') && !name.startsWith('generated/') && !HTTP_PACKAGES.includes(name)
  );
}

/** What each file or folder imports, by its name. */
type Graph = ReadonlyMap<string, ReadonlySet<string>>;

function graphOf(nameOf: (path: string) => string): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { path, imports } of shipped) {
    const from = nameOf(path);
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const name of imports) {
      if (name.startsWith('src/') && nameOf(name) !== from) targets.add(nameOf(name));
    }
  }
  return graph;
}

/** What is part of a circle: whatever is left once nothing can be taken away from the ends. */
function circlesOf(graph: Graph): string[] {
  const left = new Map([...graph].map(([name, targets]) => [name, new Set(targets)]));
  for (;;) {
    const ends = [...left].filter(([, targets]) => ![...targets].some((name) => left.has(name)));
    if (ends.length === 0) return [...left.keys()];
    for (const [name] of ends) left.delete(name);
  }
}

describe('imports', () => {
  for (const { title, files, allows } of rules) {
    it(`go one way: ${title}`, () => {
      const governed = shipped.filter(({ path }) => files.test(path));
      expect(governed.length).toBeGreaterThan(0);
      const broken = governed.flatMap(({ path, imports }) =>
        imports.filter((name) => !allows(name, path)).map((name) => `${path} imports ${name}`),
      );
      expect(broken).toEqual([]);
    });
  }

  it('make no circle of files', () => {
    expect(circlesOf(graphOf((path) => path))).toEqual([]);
  });

  it('make no circle of folders', () => {
    expect(circlesOf(graphOf((path) => dirname(path)))).toEqual([]);
  });

  it('are found by the pattern that looks for them', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type {\n  B,\n} from '../b.ts';",
      "import './c.ts';",
      "export * from './d.ts';",
      "const e = await import('./e.ts');",
      "import f from 'f';",
    ].join('\n');
    expect(importsOf('src/x/y.ts', text)).toEqual([
      'src/x/a.ts',
      'src/b.ts',
      'src/x/c.ts',
      'src/x/d.ts',
      'src/x/e.ts',
      'f',
    ]);
  });

  it('of the generated types happen in one file', () => {
    const importers = shipped.filter(({ imports }) => imports.includes('generated/api.ts'));
    expect(importers.map(({ path }) => path)).toEqual(['src/operations/operation.ts']);
  });

  it('of the pipeline of changes happen in the service only', () => {
    const importers = shipped.filter(({ imports }) => imports.includes(CHANGE_LISTENER));
    expect(importers.map(({ path }) => path)).toEqual(['src/app/service.ts']);
  });

  it('of the driver: connections and transactions are opened in the room of the database', () => {
    const owners = /^src\/(?:domain\/database|embedded-postgres)\//;
    const opening = /\b(?:acquire|release)Connection\b|\bpg\.(?:Client|Pool)\(|\.transaction\(/;
    const others = shipped.filter(({ path, text }) => !owners.test(path) && opening.test(text));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it('of black-box tests reach the service, the command line and the database, and no rule', () => {
    const broken = tests
      .filter(({ path }) => path.startsWith('contract-tests/'))
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => name.startsWith('src/') && !isIn('domain/database', 'cli')(name))
          .filter((name) => !isOneOf('src/app/service.ts', 'src/app/config.ts')(name))
          .map((name) => `${path} imports ${name}`),
      );
    expect(broken).toEqual([]);
  });
});

describe('the source', () => {
  it('reads the environment in one place', () => {
    const readers = shipped.filter(({ text }) => /\bprocess\.env\b/.test(text));
    const allowed = ['src/app/config.ts', 'src/process/main.ts', 'src/cli/main.ts'];
    expect(readers.map(({ path }) => path).filter((path) => !allowed.includes(path))).toEqual([]);
  });

  it(`has no file of ${LINES_MAX} lines or more`, () => {
    const long = [...shipped, ...tests.filter(({ path }) => path.startsWith('contract-tests/'))]
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines >= LINES_MAX);
    expect(long).toEqual([]);
  });

  it(`has no folder of more than ${FILES_MAX} files`, () => {
    const counts = new Map<string, number>();
    for (const { path } of shipped) {
      const folder = dirname(path);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > FILES_MAX)).toEqual([]);
  });

  it('mentions nothing that lies outside the checkout', () => {
    const mentions = [...shipped, ...tests].filter(({ text }) => /\.\.\/shared\b/.test(text));
    expect(mentions.map(({ path }) => path)).toEqual([]);
  });
});

describe('the tests', () => {
  it('mock no module', () => {
    const mocks = tests.filter(({ text }) => /\bvi\.(?:do)?[mM]ock\(/.test(text));
    expect(mocks.map(({ path }) => path)).toEqual([]);
  });

  it('wait for things to happen and never for time to pass', () => {
    const sleeps = tests.filter(({ path, text }) => isSleepy(path, text));
    expect(sleeps.map(({ path }) => path)).toEqual([]);
  });
});

/** A test file that waits for a fixed time. Helpers may, between two looks at something. */
function isSleepy(path: string, text: string): boolean {
  return path.endsWith('.test.ts') && /await (?:delay|sleep|setTimeout)\(/.test(text);
}
