// Copies the renderer of the API reference into the build, so that the running service needs
// neither its package nor another host.
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const target = fileURLToPath(new URL('../dist/reference/', import.meta.url));
mkdirSync(target, { recursive: true });
for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE']) {
  cpSync(join(source, file), join(target, file));
}
