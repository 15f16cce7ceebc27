import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ALLOCATOR_SETTINGS } from './memory-allocator.ts';

const FIXTURE = fileURLToPath(new URL('../../test/fixtures/allocator.ts', import.meta.url));
const OURS = Object.entries(ALLOCATOR_SETTINGS).map(([name, value]) => `${name}=${value}`);

/** Whether this version of Node.js can replace its program; 20 cannot. */
const CAN_REPLACE = process.platform === 'linux' && Reflect.has(process, 'execve');

interface Told {
  readonly pid: number;
  /** The variables that the program began with, which is when the allocator reads them. */
  readonly began: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

async function run(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['--import', 'tsx', FIXTURE, 'an argument'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const told: Told = JSON.parse(await text(child.stdout));
  return { told, pid: child.pid };
}

describe.runIf(process.platform === 'linux')('setUpAllocator', () => {
  it('gives the process its settings where it can, and hands them to no other program', async () => {
    const { told, pid } = await run({ KEPT: 'yes' });
    expect(told.began.filter((line) => OURS.includes(line))).toEqual(CAN_REPLACE ? OURS : []);
    expect(told.pid).toBe(pid);
    expect(told.args).toEqual(['an argument']);
    expect(told.env.KEPT).toBe('yes');
    expect(Object.keys(told.env).filter((name) => /MALLOC|ALLOCATOR/.test(name))).toEqual([]);
  });

  it.each([{ MALLOC_ARENA_MAX: '8' }, { GLIBC_TUNABLES: 'glibc.malloc.arena_max=8' }])(
    'leaves what an operator chose: %j',
    async (chosen) => {
      const { told } = await run(chosen);
      expect(told.began.filter((line) => OURS.includes(line))).toEqual([]);
      expect(told.env).toMatchObject(chosen);
    },
  );
});
