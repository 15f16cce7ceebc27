// Builds the service and the command line into dist/: each is one bundle with what it imports, its
// packages included, because finding and reading files one by one was more than a third of a start.
// Types are checked elsewhere ("npm run typecheck").
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

/** Drivers of other databases and other platforms, which packages ask for and Burgee does not have. */
const ABSENT = [
  ...['better-sqlite3', 'mariadb', 'mysql', 'mysql2', 'oracledb', 'sqlite3', 'tedious'],
  ...['pg-native', 'pg-query-stream', 'cloudflare:sockets'],
];

/** What packages in CommonJS expect to find around them. */
const SURROUNDINGS = [
  "import { createRequire as createRequireHere } from 'node:module';",
  "import { dirname as dirnameHere } from 'node:path';",
  "import { fileURLToPath as pathHere } from 'node:url';",
  'const require = createRequireHere(import.meta.url);',
  'const __filename = pathHere(import.meta.url);',
  'const __dirname = dirnameHere(__filename);',
].join(' ');

const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints: {
    main: 'src/process/main.ts',
    cli: 'src/cli/main.ts',
    'compile-contract': 'src/http/contract/compiled/write-compiled-contract.ts',
  },
  outdir: 'dist',
  // All in one folder: from any of them the same files are beside it.
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ABSENT,
  banner: { js: SURROUNDINGS },
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'eof',
  logLevel: 'warning',
  write: false,
});
mkdirSync(DIST, { recursive: true });
for (const { path, contents } of outputFiles) writeIfChanged(path, contents);
removeOthers(new Set(outputFiles.map(({ path }) => basename(path))));
copyReference();
await compileContract();

/** A service may be running from these files: one that stays the same is not touched. */
function writeIfChanged(path, contents) {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  const unfinished = `${path}.${process.pid}.tmp`;
  writeFileSync(unfinished, contents);
  renameSync(unfinished, path);
}

/** Removes what earlier builds have left. */
function removeOthers(built) {
  const kept = new Set([...built, 'contract', 'contract.txt', 'reference']);
  for (const name of readdirSync(DIST)) {
    if (!kept.has(name) && !name.endsWith('.tmp')) rmSync(join(DIST, name), { recursive: true });
  }
}

/** The renderer of the API reference, so that the running service needs neither its package nor another host. */
function copyReference() {
  const source = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
  mkdirSync(join(DIST, 'reference'), { recursive: true });
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE']) {
    writeIfChanged(join(DIST, 'reference', file), readFileSync(join(source, file)));
  }
}

/** Where two builds do so at a time, the one that comes last has made the same and drops it. */
function replaceFolder(folder, by) {
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(by, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(by, { recursive: true });
  }
}

/** The contract's validators and its JSON, so that the running service need not compile it. */
async function compileContract() {
  const yaml = readFileSync(join(ROOT, 'openapi.yaml'), 'utf8');
  const compiler = outputFiles.filter(({ path }) => path.endsWith('.js')).map(({ text }) => text);
  const stamp = createHash('sha256')
    .update([yaml, ...compiler].join('\0'))
    .digest('hex');
  const stampFile = join(DIST, 'contract.txt');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  const { writeCompiledContract } = await import('../dist/compile-contract.js');
  const unfinished = join(DIST, `contract.${process.pid}.tmp`);
  await writeCompiledContract(unfinished, yaml);
  replaceFolder(join(DIST, 'contract'), unfinished);
  writeIfChanged(stampFile, Buffer.from(stamp));
}
