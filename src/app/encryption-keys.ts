import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';

const FILE_NAME = 'encryption-key';
const KEY_BYTES = 32;

/**
 * The keys for secret payloads: those of the configuration, else, beside an embedded database, one
 * of this data folder's own, drawn at the first start. With a database of the operator's and no key
 * there is none, because a key that only this machine knows would lock out every other one.
 */
export function readEncryptionKeys(config: Config): readonly string[] {
  if (config.encryptionKeys.length > 0 || config.databaseUrl !== null) return config.encryptionKeys;
  const file = join(config.dataDir, FILE_NAME);
  try {
    const key = randomBytes(KEY_BYTES).toString('base64url');
    writeFileSync(file, `${key}\n`, { flag: 'wx', mode: 0o600 });
    return [key];
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    const key = readFileSync(file, 'utf8').trim();
    // A start that was cut off while writing leaves an empty file, which would encrypt with nothing.
    if (key === '')
      throw new Error(`There is no key in ${file}. Remove the file to draw a new one.`);
    return [key];
  }
}
