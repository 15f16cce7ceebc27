import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTemporaryFolder } from '../../../test/temporary-folder.ts';
import { type Layout, layOut } from '../install/layout.ts';
import {
  chooseEndpoint,
  createSocketFolder,
  fitsSocketPath,
  removeSocketFolder,
} from './endpoint.ts';

describe('fitsSocketPath', () => {
  it('counts bytes, with the name of the socket', () => {
    const name = '/.s.PGSQL.5432'.length;
    expect(fitsSocketPath(`/${'x'.repeat(102 - name)}`)).toBe(true);
    expect(fitsSocketPath(`/${'x'.repeat(103 - name)}`)).toBe(false);
    expect(fitsSocketPath(`/${'ü'.repeat(60)}`)).toBe(false);
  });
});

describe('chooseEndpoint', () => {
  let folder: ReturnType<typeof createTemporaryFolder>;
  const made: string[] = [];

  beforeEach(() => {
    folder = createTemporaryFolder();
  });

  afterEach(() => {
    for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
    folder.remove();
  });

  function layoutAt(...names: string[]): Layout {
    return layOut(join(folder.path, ...names));
  }

  it.runIf(process.platform !== 'win32')(
    "keeps the socket in PostgreSQL's own folder when its path is short (not on Windows)",
    async () => {
      const layout = layoutAt('data');
      expect(await chooseEndpoint(layout, 'socket')).toEqual({
        host: layout.dataFolder,
        port: 5432,
        isSocket: true,
      });
    },
  );

  it.runIf(process.platform !== 'win32')(
    'refuses a folder for the socket that somebody else can use (not on Windows)',
    async () => {
      const layout = layoutAt('long'.repeat(30));
      const endpoint = await chooseEndpoint(layout, 'socket');
      made.push(endpoint.host);
      expect(fitsSocketPath(endpoint.host)).toBe(true);
      createSocketFolder(endpoint, layout);
      createSocketFolder(endpoint, layout);
      removeSocketFolder(endpoint, layout);
      mkdirSync(endpoint.host);
      chmodSync(endpoint.host, 0o777);
      expect(() => createSocketFolder(endpoint, layout)).toThrow(/made by somebody else/);
    },
  );

  it('finds a free TCP port', async () => {
    const endpoint = await chooseEndpoint(layoutAt('data'), 'tcp');
    expect(endpoint).toEqual({ host: '127.0.0.1', port: expect.any(Number), isSocket: false });
    expect(endpoint.port).toBeGreaterThan(0);
  });
});
