import { closeSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../../../test/temporary-folder.ts';
import { boundLogFile, openLogFile, readLogTail } from './log-file.ts';

describe("PostgreSQL's log file", () => {
  let folder: ReturnType<typeof createTemporaryFolder>;
  let file: string;

  beforeEach(() => {
    folder = createTemporaryFolder();
    file = join(folder.path, 'postgres.log');
  });

  afterEach(() => folder.remove());

  it('starts anew for every server and keeps the one before', () => {
    for (const text of ['first', 'second', 'third']) {
      const descriptor = openLogFile(file);
      writeSync(descriptor, text);
      closeSync(descriptor);
    }
    expect(readFileSync(file, 'utf8')).toBe('third');
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('second');
  });

  it('is cut when it is too long, while the server goes on writing', () => {
    const descriptor = openLogFile(file);
    writeSync(descriptor, 'x'.repeat(100));
    boundLogFile(file, 100);
    expect(readFileSync(file, 'utf8')).toHaveLength(100);
    writeSync(descriptor, 'y');
    boundLogFile(file, 100);
    writeSync(descriptor, 'z');
    closeSync(descriptor);
    expect(readFileSync(file, 'utf8')).toBe('z');
    expect(readFileSync(`${file}.1`, 'utf8')).toHaveLength(101);
  });

  it('ends with the lines that an error shows', () => {
    expect(readLogTail(file)).toBe('(the log is empty)');
    const descriptor = openLogFile(file);
    writeSync(descriptor, Array.from({ length: 100 }, (_, line) => `line ${line}\n`).join(''));
    closeSync(descriptor);
    expect(readLogTail(file).split('\n')).toHaveLength(15);
    expect(readLogTail(file)).toMatch(/line 99$/);
  });
});
