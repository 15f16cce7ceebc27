import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTemporaryFolder } from '../test/temporary-folder.ts';
import { type BurgeeProcess, endBurgeeProcesses, startBurgeeProcess } from './burgee-process.ts';
import { createHttpClient } from './http.ts';
import { pick } from './read.ts';

const run = promisify(execFile);
const KEY = /ph[cxs]_[0-9A-Za-z]{30,}/g;
const START_TIMEOUT_MS = 90_000;

const folder = createTemporaryFolder();
const dataDir = join(folder.path, 'data');

/** The commands of the banner, each with the lines that continue it. */
function commandsOf(banner: string): string[] {
  return [...banner.matchAll(/^curl (?:.*\\\n)*.*$/gm)].map(([command]) => command);
}

/** The processes whose command line names the folder. */
function processesOf(path: string): string[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return command.includes(path) ? [command] : [];
      } catch {
        // The process has ended in the meantime.
        return [];
      }
    });
}

afterAll(async () => {
  await endBurgeeProcesses();
  folder.remove();
}, START_TIMEOUT_MS);

describe('the first start', () => {
  let burgee: BurgeeProcess;
  let url: string;
  let keys: string[];

  beforeAll(async () => {
    burgee = startBurgeeProcess({ PORT: '0', BURGEE_DATA_DIR: dataDir, LOG_LEVEL: 'trace' });
    url = await burgee.ready;
    await vi.waitFor(() => expect(commandsOf(burgee.output())).toHaveLength(2));
    keys = [...new Set(burgee.output().match(KEY) ?? [])];
  }, START_TIMEOUT_MS);

  it('prints its address and three keys', () => {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(keys.map((key) => key.slice(0, 4)).toSorted()).toEqual(['phc_', 'phs_', 'phx_']);
  });

  it('prints two commands that create a flag and evaluate it', async () => {
    const [create, evaluate] = commandsOf(burgee.output());
    const created: unknown = JSON.parse((await run('sh', ['-c', `${create}`])).stdout);
    expect(created).toMatchObject({ key: 'new-checkout', active: true, version: 1 });
    const evaluated: unknown = JSON.parse((await run('sh', ['-c', `${evaluate}`])).stdout);
    expect(pick(evaluated, 'flags', 'new-checkout', 'enabled')).toBe(true);
  });

  it('accepts all three keys', async () => {
    const client = createHttpClient(url);
    const [phc, phs, phx] = keys.toSorted();
    const read = (key: string | undefined, path: string) =>
      client.send('GET', path, { key: key ?? '' }).then(({ status }) => status);
    expect(await read(phx, '/api/projects/@current/feature_flags/')).toBe(200);
    expect(await read(phs, `/flags/definitions?token=${phc}`)).toBe(200);
    client.close();
  });

  it('ends with exit code 0 on SIGTERM, and takes its database with it', async () => {
    expect(processesOf(folder.path)).not.toEqual([]);
    burgee.kill('SIGTERM');
    expect(await burgee.ended).toBe(0);
    expect(processesOf(folder.path)).toEqual([]);
  });

  it('never logged a key, although it logged everything', () => {
    const log = burgee.errors();
    expect(log).toContain('Answered.');
    expect(log.match(KEY)).toBeNull();
    for (const line of log.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  });
});

describe('a later start', () => {
  it(
    'prints no keys, keeps what was stored, and ends on SIGINT within the grace',
    async () => {
      const burgee = startBurgeeProcess({ PORT: '0', BURGEE_DATA_DIR: dataDir });
      const url = await burgee.ready;
      expect(burgee.output().match(KEY)).toBeNull();
      expect(commandsOf(burgee.output())).toEqual([]);
      const client = createHttpClient(url);
      expect((await client.send('GET', '/_readiness')).status).toBe(200);
      client.close();
      burgee.kill('SIGINT');
      expect(await burgee.ended).toBe(0);
    },
    START_TIMEOUT_MS,
  );

  it(
    'does not wait at its end for connections on which nobody asks for anything',
    async () => {
      const burgee = startBurgeeProcess({ PORT: '0', BURGEE_DATA_DIR: dataDir });
      const { port } = new URL(await burgee.ready);
      const silent = connect(Number(port), '127.0.0.1');
      await new Promise((resolve) => silent.once('connect', resolve));
      silent.on('error', () => {});
      const startedAt = Date.now();
      burgee.kill('SIGTERM');
      expect(await burgee.ended).toBe(0);
      expect(Date.now() - startedAt).toBeLessThan(5_000);
      silent.destroy();
    },
    START_TIMEOUT_MS,
  );

  it(
    'uses the keys that it is given, on the first boot of an empty database',
    async () => {
      const given = {
        BURGEE_PROJECT_API_KEY: 'phc_givenByTheOperator000000000000001',
        BURGEE_PERSONAL_API_KEY: 'phx_givenByTheOperator000000000000001',
        BURGEE_PROJECT_SECRET_KEY: 'phs_givenByTheOperator000000000000001',
      };
      const own = join(folder.path, 'given');
      const burgee = startBurgeeProcess({ PORT: '0', BURGEE_DATA_DIR: own, ...given });
      const client = createHttpClient(await burgee.ready);
      const path = `/flags/definitions?token=${given.BURGEE_PROJECT_API_KEY}`;
      for (const key of [given.BURGEE_PERSONAL_API_KEY, given.BURGEE_PROJECT_SECRET_KEY]) {
        expect((await client.send('GET', path, { key })).status).toBe(200);
      }
      client.close();
      burgee.kill('SIGTERM');
      expect(await burgee.ended).toBe(0);
    },
    START_TIMEOUT_MS,
  );
});

describe('a start that cannot succeed', () => {
  it('names every bad variable at once, keeps secrets to itself, and exits with 2', async () => {
    const burgee = startBurgeeProcess({
      PORT: '99999',
      DATABASE_URL: 'mysql://user:secret-password@host/db',
      LOG_LEVEL: 'loud',
      BURGEE_PROJECT_API_KEY: 'phx_not_a_project_key',
      BURGEE_PERSONAL_API_KEY: 'short',
      BURGEE_PROJECT_SECRET_KEY: 'phs_',
    });
    expect(await burgee.ended).toBe(2);
    for (const name of [
      'PORT',
      'DATABASE_URL',
      'LOG_LEVEL',
      'BURGEE_PROJECT_API_KEY',
      'BURGEE_PERSONAL_API_KEY',
      'BURGEE_PROJECT_SECRET_KEY',
    ]) {
      expect(burgee.errors()).toMatch(new RegExp(`^ *- ${name} `, 'm'));
    }
    expect(burgee.errors()).not.toContain('secret-password');
    expect(burgee.errors()).not.toMatch(/^\s+at /m);
  });

  it('says that the port is in use, does no work before, and exits with 1', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const address: AddressInfo | string | null = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const unused = join(folder.path, 'unused');
    const burgee = startBurgeeProcess({ PORT: String(port), BURGEE_DATA_DIR: unused });
    expect(await burgee.ended).toBe(1);
    expect(burgee.errors()).toMatch(/EADDRINUSE.*PORT/);
    expect(burgee.errors()).not.toMatch(/^\s+at /m);
    expect(existsSync(unused)).toBe(false);
    await new Promise((resolve) => taken.close(resolve));
  });
});
