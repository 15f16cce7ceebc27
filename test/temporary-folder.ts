import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder that every account may pass through, so that PostgreSQL's can when we are root. */
export function createTemporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'burgee-test-'));
  chmodSync(path, 0o711);
  return {
    path,
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 20 }),
  };
}
