import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of Burgee's package.json, found upwards from this file, so that the source and the
 * build, which lie at different depths, find the same files.
 */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'openapi.yaml'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('openapi.yaml is missing from the installation.');
    folder = parent;
  }
  return folder;
}

/** The text of a file of the package. */
export function readPackageFile(name: string): string {
  return readFileSync(join(packageRoot(), name), 'utf8');
}
