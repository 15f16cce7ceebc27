import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isProcessAlive, mayBePostgresIn, processStartTime } from './process.ts';

describe('processes', () => {
  it('are alive until they end', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const pid = child.pid ?? 0;
    expect(isProcessAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isProcessAlive(pid)).toBe(false);
  });

  it('are never groups of processes', () => {
    expect([0, -1, Number.NaN].map(isProcessAlive)).toEqual([false, false, false]);
  });

  it.runIf(process.platform !== 'win32')(
    'have a start time of their own that does not change (not on Windows)',
    () => {
      const own = processStartTime(process.pid);
      expect(own).toEqual(expect.any(String));
      expect(processStartTime(process.pid)).toBe(own);
      expect(processStartTime(spawnSync(process.execPath, ['--version']).pid)).toBeUndefined();
    },
  );

  it.runIf(process.platform !== 'win32')(
    'are not PostgreSQL when they are another program (not on Windows)',
    () => {
      expect(mayBePostgresIn(process.cwd(), process.pid)).toBe(false);
    },
  );
});
