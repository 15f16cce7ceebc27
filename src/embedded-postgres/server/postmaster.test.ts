import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../../../test/temporary-folder.ts';
import { endpointOf } from './endpoint.ts';
import { parsePostmasterFile, readPostmasterFile, removeRecycledLockFiles } from './postmaster.ts';

const BY_SOCKET = `4711
/data/postgres
1763683200
5432
/data/socket

 16452345    131072
ready   
`;

describe('postmaster.pid', () => {
  it('tells where a server listens and how it is', () => {
    expect(parsePostmasterFile(BY_SOCKET)).toEqual({
      pid: 4711,
      port: 5432,
      socketFolder: '/data/socket',
      listenAddress: '',
      status: 'ready',
    });
  });

  it('is understood when the server has written its first lines only', () => {
    const file = parsePostmasterFile('4711\n/data/postgres\n1763683200\n');
    expect(file).toMatchObject({ pid: 4711, status: '' });
    expect(file === undefined ? 'none' : endpointOf(file)).toBeUndefined();
  });

  it.each(['', '\n', 'x\n', '0\n'])('means nothing without a process id: %j', (text) => {
    expect(parsePostmasterFile(text)).toBeUndefined();
  });

  it('leads to the TCP address when there is no socket', () => {
    const file = parsePostmasterFile('1\n/d\n1\n6000\n\n127.0.0.1\n\nready\n');
    expect(file === undefined ? undefined : endpointOf(file)).toEqual({
      host: '127.0.0.1',
      port: 6000,
      isSocket: false,
    });
  });

  it('is removed, with its socket lock, when its id belongs to another program', () => {
    const folder = createTemporaryFolder();
    const lines = [process.pid, folder.path, 1, 5432, folder.path, '', '', 'ready'];
    writeFileSync(join(folder.path, 'postmaster.pid'), lines.join('\n'));
    writeFileSync(join(folder.path, '.s.PGSQL.5432.lock'), '');
    removeRecycledLockFiles(folder.path);
    expect(readPostmasterFile(folder.path)).toBeUndefined();
    expect(existsSync(join(folder.path, '.s.PGSQL.5432.lock'))).toBe(false);
    folder.remove();
  });
});
