import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run clients`: generates a client of the contract with each generator, compiles it, and has
 * it create a flag, evaluate it and read its activity on a Burgee that runs for this purpose. Names
 * on the command line choose among the clients. A client whose tools are not installed is skipped,
 * and said to be; where CI is set it fails.
 */
interface Client {
  readonly name: string;
  /** Programs that have to be installed, beside Node.js. */
  readonly needs: readonly string[];
  /** Run one after the other in a copy of the folder of this name. */
  readonly steps: readonly (readonly string[])[];
}

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const CONTRACT = join(REPOSITORY, 'openapi.yaml');
const STEP_LIMIT_MS = 600_000;
/** They wait for downloads in turns, and compile in turns. */
const AT_A_TIME = 2;
const READY = /Burgee is ready at (\S+)/;

const NPM_INSTALL = ['npm', 'install', '--no-audit', '--no-fund', '--no-package-lock'];
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';

const CLIENTS: readonly Client[] = [
  {
    name: 'typescript-openapi-fetch',
    needs: [],
    steps: [
      NPM_INSTALL,
      ['npx', 'openapi-typescript', CONTRACT, '-o', 'api.ts', '--default-non-nullable=false'],
      ['npx', 'tsc', '-p', '.'],
      ['node', 'drive.js'],
    ],
  },
  {
    name: 'typescript-hey-api',
    needs: [],
    steps: [
      NPM_INSTALL,
      ['npx', 'openapi-ts', '-i', CONTRACT, '-o', 'client', '-c', '@hey-api/client-fetch'],
      ['npx', 'tsc', '-p', '.'],
      ['npx', 'tsx', 'drive.ts'],
    ],
  },
  {
    name: 'python',
    needs: ['python3'],
    steps: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '--quiet', '--no-input', '-r', 'requirements.txt'],
      [
        ...['venv/bin/openapi-python-client', 'generate', '--fail-on-warning', '--meta', 'none'],
        ...['--config', 'config.yaml', '--path', CONTRACT, '--output-path', 'burgee_client'],
      ],
      ['venv/bin/python', '-m', 'compileall', '-q', 'burgee_client'],
      ['venv/bin/mypy', '--strict', '--follow-imports=silent', 'drive.py'],
      ['venv/bin/python', 'drive.py'],
    ],
  },
  {
    name: 'go',
    needs: ['go'],
    steps: [
      ['go', 'run', OAPI_CODEGEN, '-config', 'config.yaml', CONTRACT],
      ['go', 'vet', './...'],
      ['go', 'run', '.'],
    ],
  },
  {
    name: 'java',
    needs: ['java', 'javac', 'mvn'],
    steps: [
      ['mvn', '--quiet', '--batch-mode', 'initialize'],
      [
        ...['java', '-jar', 'openapi-generator-cli.jar', 'generate', '-g', 'java'],
        ...['-c', 'config.yaml', '-i', CONTRACT, '-o', 'client'],
      ],
      [
        ...['sh', '-c'],
        "javac -d classes -cp 'lib/*' Drive.java $(find client/src/main -name '*.java')",
      ],
      ['java', '-cp', 'classes:lib/*', 'Drive'],
    ],
  },
];

const KEYS = {
  BURGEE_PROJECT_API_KEY: 'phc_clientsProjectApiKey0000000000000000001',
  BURGEE_PERSONAL_API_KEY: 'phx_clientsPersonalApiKey0000000000000000001',
};

const chosen = process.argv.slice(2);
const wanted = CLIENTS.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
const folder = mkdtempSync(join(tmpdir(), 'burgee-clients-'));
// PostgreSQL runs under another account when we are root, and has to get through.
chmodSync(folder, 0o711);
const burgee = startBurgee();
const ended = once(burgee, 'close');
try {
  const url = await readyUrl(burgee);
  const waiting = [...wanted];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const work = async () => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
      const { verdict, text } = await tryClient(client, url);
      console.log(`${client.name}: ${text}`);
      counts[verdict] += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  const { passed, failed, skipped } = counts;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  if (failed > 0 || passed === 0) process.exitCode = 1;
} finally {
  burgee.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

interface Result {
  readonly verdict: 'passed' | 'failed' | 'skipped';
  /** What went wrong, with the output of the step. */
  readonly text: string;
}

async function tryClient(client: Client, url: string): Promise<Result> {
  const missing = client.needs.filter((program) => !isInstalled(program));
  if (missing.length > 0) {
    const verdict = process.env.CI === undefined ? 'skipped' : 'failed';
    return { verdict, text: `not run, because this is not installed: ${missing.join(', ')}` };
  }
  const copy = join(folder, client.name);
  cpSync(join(REPOSITORY, 'clients', client.name), copy, { recursive: true });
  for (const step of client.steps) {
    const { code, output } = await run(step, copy, { ...KEYS, BURGEE_URL: url });
    if (code !== 0) {
      return { verdict: 'failed', text: `"${step.join(' ')}" ended with ${code}\n${output}` };
    }
  }
  return { verdict: 'passed', text: 'works' };
}

/** Whether a program is on the PATH. */
function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((place) => {
    try {
      accessSync(join(place, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function run(command: readonly string[], cwd: string, env: Record<string, string>) {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, PATH: `${join(cwd, 'venv', 'bin')}:${process.env.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: STEP_LIMIT_MS,
  });
  let output = '';
  const collect = (text: string) => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  const [code] = await once(child, 'close').catch((error: unknown) => [String(error)]);
  return { code: code ?? 'a timeout', output };
}

function startBurgee(): ChildProcess {
  const main = join(REPOSITORY, 'dist/main.js');
  if (!existsSync(main)) throw new Error(`${main} does not exist. Run "npm run build" first.`);
  return spawn(process.execPath, [main], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'test',
      PORT: '0',
      LOG_LEVEL: 'error',
      BURGEE_DATA_DIR: join(folder, 'data'),
      ...KEYS,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Its output is read to the end, so that printing never fails for it. */
function readyUrl(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const url = READY.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.on('close', () => reject(new Error(`Burgee did not get ready: ${printed}`)));
  });
}
