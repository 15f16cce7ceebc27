import { execFile } from 'node:child_process';
import { buildService } from '../built-service.ts';
import type { StartedBurgee } from '../start-burgee.ts';
import { type Block, REPOSITORY } from './pages.ts';

const LIMIT_MS = 60_000;

/** What a block printed, and how it ended. */
export interface BlockResult {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/**
 * Runs a block as a reader would: in the checkout, with the keys and the address of this Burgee in
 * the place of those on the page. `npx burgee` is this checkout's build.
 */
export function runBlock(block: Block, burgee: StartedBurgee): Promise<BlockResult> {
  const script = block.text
    .replaceAll('http://127.0.0.1:8000', burgee.url)
    .replaceAll("'phc_...'", `'${burgee.projectApiKey}'`)
    .replaceAll("'phx_...'", `'${burgee.personalApiKey}'`)
    .replaceAll('npx burgee', 'node dist/cli.js');
  buildService();
  return block.language === 'js'
    ? run(burgee, process.execPath, ['--input-type=module', '--eval', script])
    : run(burgee, 'sh', ['-eu', '-c', script]);
}

function run(burgee: StartedBurgee, program: string, args: string[]): Promise<BlockResult> {
  const options = { cwd: REPOSITORY, env: environmentFor(burgee), timeout: LIMIT_MS };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, output, errors) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, output, errors });
    });
  });
}

function environmentFor(burgee: StartedBurgee) {
  const { host, port, user, password, database } = burgee.connection;
  const where = encodeURIComponent(host);
  const [name, secret] = [user, password].map(encodeURIComponent);
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    BURGEE_URL: burgee.url,
    PROJECT_API_KEY: burgee.projectApiKey,
    PERSONAL_API_KEY: burgee.personalApiKey,
    DATABASE_URL: `postgres://${name}:${secret}@localhost:${port}/${database}?host=${where}`,
  };
}
