import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const INSTALL_LIMIT_MS = 300_000;

/**
 * The folder that holds the `node` of this version, to be put before the others in `PATH`. The npm
 * package `node` brings it into the user's cache folder when it is not there.
 *
 * @throws when the registry does not deliver it, or it does not run here
 */
export function installNode(version: string): string {
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(caches, 'burgee', `node-${version}`);
  const programs = join(folder, 'node_modules', 'node', 'bin');
  if (!existsSync(join(programs, 'node'))) {
    mkdirSync(folder, { recursive: true });
    // Its install script fetches the package of this platform; npm asks for such consent.
    const consent = { private: true, allowScripts: { node: true } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(consent));
    run('npm', ['install', '--no-save', '--no-package-lock', `node@${version}`], folder);
  }
  const found = run(join(programs, 'node'), ['--version'], folder).trim();
  if (found !== `v${version}`) throw new Error(`${programs} has Node.js ${found}.`);
  return programs;
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: INSTALL_LIMIT_MS,
  });
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(`"${program} ${args.join(' ')}" ended with ${status}: ${stderr}`);
  return stdout;
}
