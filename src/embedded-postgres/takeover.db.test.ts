import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { killSpawned, spawnBurgee } from '../../test/embedded-burgee.ts';
import { quietLog } from '../../test/postgres-log.ts';
import { createTemporaryFolder } from '../../test/temporary-folder.ts';
import { createDb } from '../domain/database/db.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { readPostmasterFile } from './server/postmaster.ts';
import { isProcessAlive } from './server/process.ts';

const WAIT = { timeout: 15_000, interval: 20 };

describe('an embedded server and the processes around it', { timeout: 60_000 }, () => {
  let folder: ReturnType<typeof createTemporaryFolder>;
  let dataDir: string;

  beforeEach(() => {
    folder = createTemporaryFolder();
    dataDir = join(folder.path, 'data');
  });

  afterEach(async () => {
    killSpawned();
    const pid = serverPid();
    if (isProcessAlive(pid)) process.kill(pid, 'SIGQUIT');
    await vi.waitFor(() => expect(isProcessAlive(pid)).toBe(false), WAIT);
    folder.remove();
  });

  function serverPid(): number {
    return readPostmasterFile(join(dataDir, 'postgres'))?.pid ?? 0;
  }

  /** A server whose Burgee was killed; returns the server's process id. */
  async function orphanServer(): Promise<number> {
    const burgee = spawnBurgee(dataDir, 'serve');
    expect(await burgee.started).toMatchObject({ event: 'ready' });
    await burgee.end('SIGKILL');
    const pid = serverPid();
    expect(isProcessAlive(pid)).toBe(true);
    return pid;
  }

  it('is taken over by the next service after a kill -9, which then stops it', async () => {
    const pid = await orphanServer();
    const warnings: string[] = [];
    const log = { ...quietLog, warn: (message: string) => warnings.push(message) };
    const server = await startEmbeddedPostgres({ dataDir, log, mode: 'serve' });
    expect(serverPid()).toBe(pid);
    expect(warnings).toEqual([expect.stringContaining(`(process ${pid})`)]);
    await server.stop();
    expect(isProcessAlive(pid)).toBe(false);
  });

  it('is restarted when it dies after it was taken over', async () => {
    const pid = await orphanServer();
    const server = await startEmbeddedPostgres({ dataDir, log: quietLog, mode: 'serve' });
    const db = createDb(server.connection);
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(serverPid()).not.toBe(pid), WAIT);
    await vi.waitFor(() => db.raw('SELECT 1'), WAIT);
    await db.destroy();
    await server.stop();
  });

  it('is not touched when it refuses the stored password', async () => {
    const pid = await orphanServer();
    writeFileSync(join(dataDir, 'postgres-password'), 'another\n');
    await expect(startEmbeddedPostgres({ dataDir, log: quietLog, mode: 'serve' })).rejects.toThrow(
      `(process ${pid}) runs on ${join(dataDir, 'postgres')} and refuses`,
    );
    expect(isProcessAlive(pid)).toBe(true);
  });

  it('is joined by a command after a kill -9, which leaves it running', async () => {
    const pid = await orphanServer();
    const command = await startEmbeddedPostgres({ dataDir, log: quietLog, mode: 'adopt-or-start' });
    await command.stop();
    expect(isProcessAlive(pid)).toBe(true);
    expect(existsSync(join(dataDir, 'burgee.pid'))).toBe(false);
  });

  it('belongs to exactly one of two services that start at the same instant', async () => {
    await orphanServer();
    const services = [spawnBurgee(dataDir, 'serve'), spawnBurgee(dataDir, 'serve')];
    const results = await Promise.all(services.map(({ started }) => started));
    expect(results.map(({ event }) => event).sort()).toEqual(['failed', 'ready']);
    const winner = services[results.findIndex(({ event }) => event === 'ready')];
    expect(results.find(({ event }) => event === 'failed')).toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringContaining(
        `Another Burgee (process ${winner?.pid}) is already using ${dataDir}`,
      ),
    });
    await winner?.end('SIGTERM');
    expect(isProcessAlive(serverPid())).toBe(false);
  });

  it.each(['SIGTERM', 'SIGUSR2'] as const)(
    'does not outlive a Burgee that ends by %s',
    async (signal) => {
      const burgee = spawnBurgee(dataDir, 'serve');
      await burgee.started;
      const pid = serverPid();
      await burgee.end(signal);
      await vi.waitFor(() => expect(isProcessAlive(pid)).toBe(false), WAIT);
      expect(existsSync(join(dataDir, 'burgee.pid'))).toBe(false);
    },
  );

  it('is waited for when it still stops, and started again', async () => {
    const burgee = spawnBurgee(dataDir, 'serve');
    await burgee.started;
    const pid = serverPid();
    await burgee.end('SIGUSR2');
    const server = await startEmbeddedPostgres({ dataDir, log: quietLog, mode: 'serve' });
    expect(serverPid()).not.toBe(pid);
    await server.stop();
  });
});
