import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHttpClient } from '../http.ts';
import { pickNumber } from '../read.ts';
import type { Subjects } from './management-places.ts';
import type { Keys } from './places.ts';

/** A built service in a process of its own, with little memory. */
export interface AttackedService {
  readonly url: string;
  readonly pid: number;
  readonly keys: Keys;
  readonly subjects: Subjects;
  /** The body of an evaluation that is in order. */
  readonly evaluation: string;
  isAlive(): boolean;
  /** The last that it said. */
  complaints(): string;
  stop(): Promise<void>;
}

/** Where the service is built, and what it is told besides its port and keys. */
export interface AttackedOptions {
  /** The folder with `dist`; this checkout's unless said otherwise. */
  readonly build?: string;
  /** At least `DATABASE_URL` or `BURGEE_DATA_DIR`. */
  readonly env: Readonly<Record<string, string>>;
  readonly heapMb?: number;
}

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const READY = /Burgee is ready at (\S+)/;
const COMPLAINTS_MAX = 4_000;
const HEAP_MB = 256;

export const KEYS = {
  projectApiKey: 'phc_hostileTestsProjectApiKey00000000000001',
  personalApiKey: 'phx_hostileTestsPersonalApiKey00000000000001',
};

/** Starts a built service, and makes a flag and a static cohort for requests to be about. */
export async function startAttackedService(options: AttackedOptions): Promise<AttackedService> {
  const build = options.build ?? REPOSITORY;
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${options.heapMb ?? HEAP_MB}`, join(build, 'dist/main.js')],
    {
      cwd: build,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PORT: '0',
        NODE_ENV: 'production',
        LOG_LEVEL: 'error',
        BURGEE_PROJECT_API_KEY: KEYS.projectApiKey,
        BURGEE_PERSONAL_API_KEY: KEYS.personalApiKey,
        BURGEE_ENCRYPTION_KEYS: 'an-encryption-key-for-hostile-tests',
        ...allocatorSettings(),
        ...options.env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-COMPLAINTS_MAX);
  });
  const url = await readyUrl(child, () => complaints);
  return {
    url,
    pid: child.pid ?? 0,
    keys: KEYS,
    subjects: await createSubjects(url),
    evaluation: JSON.stringify({ token: KEYS.projectApiKey, distinct_id: 'an-honest-person' }),
    isAlive: () => !hasEnded(child),
    complaints: () => complaints,
    async stop() {
      if (hasEnded(child)) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** What docs/self-hosting.md tells those to set whose Node.js cannot do it for them. */
function allocatorSettings(): Readonly<Record<string, string>> {
  if (Reflect.has(process, 'execve')) return {};
  return {
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '1048576',
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function readyUrl(child: ChildProcess, complaints: () => string): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const url = READY.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`Ended with ${code}: ${complaints()}`)));
  });
}

const FLAGS = 10;

/** Some flags, each with a condition on an email, and a static cohort; those of before are kept. */
async function createSubjects(url: string): Promise<Subjects> {
  const client = createHttpClient(url);
  const create = async (path: string, body: object): Promise<number> => {
    const {
      status,
      text,
      body: made,
    } = await client.send('POST', `/api/projects/1/${path}`, {
      key: KEYS.personalApiKey,
      body,
    });
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    return pickNumber(made, 'id');
  };
  try {
    const about = `${process.pid}-${Date.now()}`;
    const email = { key: 'email', operator: 'icontains', value: '@example.com' };
    let flagId = 0;
    for (let number = 0; number < FLAGS; number += 1) {
      flagId = await create('feature_flags/', {
        key: `attacked-${about}-${number}`,
        filters: { groups: [{ properties: [email] }, { rollout_percentage: 50 }] },
      });
    }
    const cohortId = await create('cohorts/', { name: `attacked ${about}`, is_static: true });
    return { flagId, cohortId };
  } finally {
    client.close();
  }
}
