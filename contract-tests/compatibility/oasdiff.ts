import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemporaryFolder } from '../../test/temporary-folder.ts';
import { pick, pickNumber, pickText } from '../read.ts';
import { spellOut } from './spell-out.ts';

/** A difference between two contracts. */
export interface Change {
  /** The kind, as https://github.com/oasdiff/oasdiff names it. */
  readonly id: string;
  readonly text: string;
  /** Such as `GET /flags`; null for what belongs to no operation. */
  readonly operation: string | null;
  /** Whether a client that worked before may stop working. */
  readonly breaks: boolean;
}

/** Pinned, so that the verdict changes only on purpose. */
const OASDIFF = 'v1.33.0';

/** oasdiff's levels: 1 tells, 2 warns of what may break somebody, 3 is sure. */
const WARNING = 2;
const SEVERITY_LEVELS = fileURLToPath(new URL('severity-levels.txt', import.meta.url));
const INSTALL_LIMIT_MS = 600_000;

/**
 * The path of the pinned oasdiff; compiles it into the user's cache folder when it is not there.
 * Throws when there is no Go or its modules are not to be had.
 */
export function installOasdiff(): string {
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(caches, 'burgee', `oasdiff-${OASDIFF}`);
  const program = join(folder, process.platform === 'win32' ? 'oasdiff.exe' : 'oasdiff');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const { status, error, stderr } = spawnSync(
    'go',
    ['install', `github.com/oasdiff/oasdiff@${OASDIFF}`],
    { env: { ...process.env, GOBIN: folder }, encoding: 'utf8', timeout: INSTALL_LIMIT_MS },
  );
  if (error !== undefined) throw new Error(`Go (1.26 or newer) did not run: ${error.message}`);
  if (status !== 0) throw new Error(`oasdiff could not be installed: ${stderr}`);
  return program;
}

/**
 * What changed from one contract to another, in an order that does not depend on chance. What oasdiff
 * warns of counts as breaking. Throws when oasdiff cannot read one of them.
 */
export function findChanges(program: string, before: unknown, after: unknown): readonly Change[] {
  const folder = createTemporaryFolder();
  try {
    const [base, revision] = [join(folder.path, 'base.json'), join(folder.path, 'revision.json')];
    writeFileSync(base, JSON.stringify(spellOut(before)));
    writeFileSync(revision, JSON.stringify(spellOut(after)));
    const { status, error, stdout, stderr } = spawnSync(
      program,
      [
        ...['changelog', base, revision, '--format', 'json', '--flatten-allof'],
        ...['--severity-levels', SEVERITY_LEVELS],
      ],
      // Away from the repository, so that no other settings are found.
      { cwd: folder.path, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
    );
    if (error !== undefined || status !== 0)
      throw new Error(`oasdiff failed: ${error?.message ?? stderr}`);
    const found: unknown = JSON.parse(stdout);
    if (!Array.isArray(found)) throw new Error(`oasdiff answered ${stdout}`);
    return found.map(readChange).toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  } finally {
    folder.remove();
  }
}

function readChange(found: unknown): Change {
  const [method, path] = [pick(found, 'operation'), pick(found, 'path')];
  return {
    id: pickText(found, 'id'),
    text: pickText(found, 'text'),
    operation: typeof path === 'string' && path !== '' ? `${method} ${path}` : null,
    breaks: pickNumber(found, 'level') >= WARNING,
  };
}

function orderOf({ text, operation }: Change): string {
  return `${text}\n${operation ?? ''}`;
}
