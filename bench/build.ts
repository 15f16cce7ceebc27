import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A built checkout of Burgee. */
export interface Build {
  /** An absolute path; the service runs in it. */
  readonly folder: string;
  /** The script that is the service, and its arguments. */
  readonly script: readonly string[];
}

/**
 * The build in a checkout, by the checkout's own `start` script: a build that keeps its files
 * elsewhere is started like any other. Throws where there is none.
 */
export function readBuild(folder: string): Build {
  const manifest: { scripts?: { start?: string } } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const [command, ...script] = manifest.scripts?.start?.split(' ') ?? [];
  if (command !== 'node' || script.length === 0) {
    throw new Error(`${folder} has no start script that runs node.`);
  }
  return { folder: resolve(folder), script };
}

/** The build of this checkout. */
export const OWN_BUILD = readBuild(process.cwd());
