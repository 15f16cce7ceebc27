import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../../test/temporary-folder.ts';
import { readConfig } from './config.ts';
import { readEncryptionKeys } from './encryption-keys.ts';

let folder: ReturnType<typeof createTemporaryFolder>;

beforeEach(() => {
  folder = createTemporaryFolder();
});

afterEach(() => {
  folder.remove();
});

const configOf = (env: Record<string, string> = {}) =>
  readConfig({ BURGEE_DATA_DIR: folder.path, ...env });

const fileOf = () => join(folder.path, 'encryption-key');

describe('readEncryptionKeys', () => {
  it('takes the keys of the configuration, in their order, and writes none', () => {
    const keys = ['a-key-of-more-than-20-characters', 'another-key-of-20-characters'];
    const env = { BURGEE_ENCRYPTION_KEYS: keys.join(', ') };
    expect(readEncryptionKeys(configOf(env))).toEqual(keys);
    expect(() => statSync(fileOf())).toThrow(/ENOENT/);
  });

  it('has none with a database of the operator’s, and writes none', () => {
    const env = { DATABASE_URL: 'postgres://burgee@localhost/burgee' };
    expect(readEncryptionKeys(configOf(env))).toEqual([]);
    expect(() => statSync(fileOf())).toThrow(/ENOENT/);
  });

  it('draws one for the data folder of an embedded database, and keeps it', () => {
    const keys = readEncryptionKeys(configOf());
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    expect(readFileSync(fileOf(), 'utf8')).toBe(`${keys[0]}\n`);
    expect(statSync(fileOf()).mode & 0o777).toBe(0o600);
    expect(readEncryptionKeys(configOf())).toEqual(keys);
  });

  it('draws a different one for every folder', () => {
    const [first] = readEncryptionKeys(configOf());
    const other = createTemporaryFolder();
    const [second] = readEncryptionKeys(configOf({ BURGEE_DATA_DIR: other.path }));
    other.remove();
    expect(second).not.toBe(first);
  });

  it('leaves a key that is there alone, and lets configured ones go before', () => {
    writeFileSync(fileOf(), 'a-key-that-was-put-there-by-hand\n');
    expect(readEncryptionKeys(configOf())).toEqual(['a-key-that-was-put-there-by-hand']);
    const env = { BURGEE_ENCRYPTION_KEYS: 'a-key-of-more-than-20-characters' };
    expect(readEncryptionKeys(configOf(env))).toEqual(['a-key-of-more-than-20-characters']);
    expect(readFileSync(fileOf(), 'utf8')).toBe('a-key-that-was-put-there-by-hand\n');
  });

  it('fails when the folder cannot be written, instead of going on without a key', () => {
    const missing = join(folder.path, 'missing');
    expect(() => readEncryptionKeys(configOf({ BURGEE_DATA_DIR: missing }))).toThrow(/ENOENT/);
  });

  it.each(['', '\n', '  \n'])('does not take a file with %j for a key', (text) => {
    writeFileSync(fileOf(), text);
    expect(() => readEncryptionKeys(configOf())).toThrow(/encryption-key/);
  });
});
