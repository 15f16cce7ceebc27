import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../../../test/temporary-folder.ts';
import { tryLockFolder } from './lock.ts';
import { processStartTime } from './process.ts';

describe('tryLockFolder', () => {
  let folder: ReturnType<typeof createTemporaryFolder>;
  let file: string;

  beforeEach(() => {
    folder = createTemporaryFolder();
    file = join(folder.path, 'burgee.pid');
  });

  afterEach(() => folder.remove());

  function writeHolder(pid: number, startTime: string | null): void {
    writeFileSync(file, JSON.stringify({ pid, startTime, role: 'service', id: 'x' }));
  }

  /** The id of a process that has ended. */
  function deadPid(): number {
    return spawnSync(process.execPath, ['--version']).pid;
  }

  it('gives the lock to one and names the holder to the others', async () => {
    const attempts = await Promise.all(
      Array.from({ length: 5 }, () => tryLockFolder(file, 'service')),
    );
    expect(attempts.filter((attempt) => 'lock' in attempt)).toHaveLength(1);
    const holders = attempts.flatMap((attempt) => ('holder' in attempt ? [attempt.holder] : []));
    expect(holders).toHaveLength(4);
    for (const holder of holders) {
      expect(holder).toMatchObject({ pid: process.pid, role: 'service' });
    }
  });

  it('leaves nothing behind when it is released', async () => {
    const attempt = await tryLockFolder(file, 'command');
    if ('lock' in attempt) attempt.lock.release();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('releases only its own lock', async () => {
    const attempt = await tryLockFolder(file, 'command');
    writeHolder(process.pid, null);
    if ('lock' in attempt) attempt.lock.release();
    expect(existsSync(file)).toBe(true);
  });

  it('takes over from a process that ended', async () => {
    writeHolder(deadPid(), null);
    expect(await tryLockFolder(file, 'service')).toHaveProperty('lock');
    expect(readdirSync(folder.path)).toEqual(['burgee.pid']);
  });

  it.runIf(process.platform !== 'win32')(
    'takes over from a process whose id another process has now (not on Windows, which tells no start times)',
    async () => {
      writeHolder(process.pid, 'another start');
      expect(await tryLockFolder(file, 'service')).toHaveProperty('lock');
    },
  );

  it('respects a living process', async () => {
    writeHolder(process.pid, processStartTime(process.pid) ?? null);
    expect(await tryLockFolder(file, 'service')).toMatchObject({ holder: { id: 'x' } });
  });

  it.each(['', 'nonsense', '{}', '{"pid":"1","startTime":null,"role":"service","id":"x"}'])(
    'takes over a lock that says nothing: %j',
    async (text) => {
      writeFileSync(file, text);
      expect(await tryLockFolder(file, 'service')).toHaveProperty('lock');
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
    },
  );

  it('gets past a takeover that was killed in the middle', async () => {
    writeFileSync(file, 'stale');
    const name = createHash('sha256').update('stale').digest('hex').slice(0, 12);
    const takeover = `${file}.${name}`;
    writeFileSync(takeover, '');
    utimesSync(takeover, 1, 1);
    expect(await tryLockFolder(file, 'service')).toHaveProperty('lock');
    expect(readdirSync(folder.path)).toEqual(['burgee.pid']);
  });
});
