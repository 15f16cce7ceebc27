import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { quietLog } from '../../test/postgres-log.ts';
import { createTemporaryFolder } from '../../test/temporary-folder.ts';
import { createDb } from '../domain/database/db.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import type { EmbeddedPostgresOptions } from './install/options.ts';
import { readPostmasterFile } from './server/postmaster.ts';
import { isProcessAlive } from './server/process.ts';

const WAIT = { timeout: 15_000, interval: 20 };

describe('startEmbeddedPostgres', () => {
  let folder: ReturnType<typeof createTemporaryFolder>;
  let started: EmbeddedPostgres[];

  beforeEach(() => {
    folder = createTemporaryFolder();
    started = [];
  });

  afterEach(async () => {
    await Promise.all(started.map((server) => server.stop()));
    folder.remove();
  });

  async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({
      dataDir: join(folder.path, 'data'),
      log: quietLog,
      mode: 'serve',
      settings: { fsync: 'off' },
      ...options,
    });
    started.push(server);
    return server;
  }

  async function query<Row>(server: EmbeddedPostgres, sql: string): Promise<Row[]> {
    const db = createDb(server.connection, 1);
    try {
      return (await db.raw<{ rows: Row[] }>(sql)).rows;
    } finally {
      await db.destroy();
    }
  }

  function serverPid(server: EmbeddedPostgres): number {
    return readPostmasterFile(server.dataFolder)?.pid ?? 0;
  }

  it('keeps the data between starts and says when it prepares', async () => {
    const messages: string[] = [];
    const log = { ...quietLog, info: (message: string) => messages.push(message) };
    const first = await start({ log });
    await query(first, 'CREATE TABLE kept (id integer); INSERT INTO kept VALUES (42)');
    await first.stop();
    const second = await start({ log });
    expect(await query(second, 'SELECT id FROM kept')).toEqual([{ id: 42 }]);
    expect(second.connection).toEqual(first.connection);
    expect(messages).toEqual([
      expect.stringMatching(/^Preparing PostgreSQL 18\.\d+ in .*data \(first start only/),
    ]);
  });

  it('runs safe and small, by socket only and with a password', async () => {
    const server = await start({ settings: {} });
    const rows = await query<{ name: string; setting: string }>(
      server,
      `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit',
       'listen_addresses', 'TimeZone', 'server_encoding', 'max_connections')`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      listen_addresses: '',
      TimeZone: 'UTC',
      server_encoding: 'UTF8',
      max_connections: '60',
    });
    const passwordFile = join(folder.path, 'data', 'postgres-password');
    expect(statSync(passwordFile).mode & 0o777).toBe(0o600);
    expect(statSync(server.dataFolder).mode & 0o777).toBe(0o700);
    const stranger = createDb({ ...server.connection, password: 'wrong' });
    await expect(stranger.raw('SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await stranger.destroy();
  });

  it('leaves no process, lock or socket behind when it stops', async () => {
    const server = await start();
    const pid = serverPid(server);
    const held = createDb(server.connection);
    await held.raw('SELECT 1');
    await server.stop();
    expect(isProcessAlive(pid)).toBe(false);
    expect(existsSync(join(folder.path, 'data', 'burgee.pid'))).toBe(false);
    expect(readdirSync(server.dataFolder).filter((name) => name.startsWith('.s.'))).toEqual([]);
    await held.destroy();
  });

  it('runs two servers side by side', async () => {
    const [one, other] = await Promise.all([
      start({ dataDir: join(folder.path, 'one') }),
      start({ dataDir: join(folder.path, 'other') }),
    ]);
    await query(one, 'CREATE TABLE only_in_one (id integer)');
    expect(await query(other, "SELECT to_regclass('only_in_one') AS found")).toEqual([
      { found: null },
    ]);
  });

  it('listens on TCP where there are no Unix sockets', async () => {
    const server = await start({ transport: 'tcp' });
    expect(server.connection.host).toBe('127.0.0.1');
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('works in a folder whose path is too long for a socket, or has odd characters', async () => {
    const dataDir = join(folder.path, 'ü, "quoted" and '.repeat(8), 'data');
    const server = await start({ dataDir });
    expect(server.connection.host.startsWith(dataDir)).toBe(false);
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('restarts a server that was killed, at the same place, and pools reconnect', async () => {
    const errors: string[] = [];
    const log = { ...quietLog, error: (message: string) => errors.push(message) };
    const server = await start({ log });
    const db = createDb(server.connection);
    await db.raw('CREATE TABLE kept (id integer)');
    const killed = serverPid(server);
    for (let kill = 0; kill < 2; kill += 1) {
      const pid = serverPid(server);
      process.kill(pid, 'SIGKILL');
      await vi.waitFor(() => expect(serverPid(server)).not.toBe(pid), WAIT);
      await vi.waitFor(() => db.raw('SELECT id FROM kept'), WAIT);
    }
    expect(serverPid(server)).not.toBe(killed);
    expect(errors).toContainEqual(expect.stringContaining('PostgreSQL stopped by itself'));
    await db.destroy();
  });

  it('can be stopped while it restarts a killed server', async () => {
    const server = await start();
    const pid = serverPid(server);
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(isProcessAlive(pid)).toBe(false), WAIT);
    await server.stop();
    expect(isProcessAlive(serverPid(server))).toBe(false);
    expect(existsSync(join(folder.path, 'data', 'burgee.pid'))).toBe(false);
  });

  it('refuses a second service on the same folder and names folder and process', async () => {
    await start();
    await expect(start()).rejects.toThrow(
      `Another Burgee (process ${process.pid}) is already using ${join(folder.path, 'data')}.`,
    );
  });

  it('lets a command join the running service and leaves the server running', async () => {
    const service = await start();
    const command = await start({ mode: 'adopt-or-start' });
    expect(command.connection).toEqual(service.connection);
    await command.stop();
    expect(await query(service, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('runs a server for a command, and a second command waits for the first', async () => {
    const first = await start({ mode: 'adopt-or-start' });
    const pid = serverPid(first);
    const second = start({ mode: 'adopt-or-start' });
    expect(await query(first, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await first.stop();
    expect(serverPid(await second)).not.toBe(pid);
  });

  it('refuses data of another major version and says what to do', async () => {
    const server = await start();
    await server.stop();
    writeFileSync(join(server.dataFolder, 'PG_VERSION'), '16\n');
    await expect(start()).rejects.toThrow(/PostgreSQL 16, and .* PostgreSQL 18, .*pg_dump/);
    expect(existsSync(join(folder.path, 'data', 'burgee.pid'))).toBe(false);
  });

  it('recovers from a first start that was killed in the middle', async () => {
    const dataDir = join(folder.path, 'data');
    mkdirSync(join(dataDir, 'postgres.unfinished-1', 'base'), { recursive: true, mode: 0o711 });
    writeFileSync(join(dataDir, 'postgres.unfinished-1', 'PG_VERSION'), '18\n');
    writeFileSync(join(dataDir, 'postgres-password'), '');
    const server = await start();
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(readdirSync(dataDir).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  it('creates the database when the first start was killed just before that', async () => {
    const first = await start();
    const maintenance = createDb({ ...first.connection, database: 'postgres' });
    await maintenance.raw('DROP DATABASE burgee');
    await maintenance.destroy();
    await first.stop();
    expect(await query(await start(), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('starts when the id of a dead server belongs to another process now', async () => {
    const first = await start();
    await first.stop();
    const stale = [process.pid, first.dataFolder, 1, 5432, first.connection.host, '', '', 'ready'];
    writeFileSync(join(first.dataFolder, 'postmaster.pid'), `${stale.join('\n')}\n`);
    expect(await query(await start(), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it("shows the end of PostgreSQL's log when the server does not start", async () => {
    const settings = { shared_buffers: 'nonsense' };
    await expect(start({ settings })).rejects.toThrow(
      /did not start on .*\(exit status 1\).*\n.*invalid value for parameter "shared_buffers"/,
    );
    const log = readFileSync(join(folder.path, 'data', 'postgres.log'), 'utf8');
    expect(log).toContain('nonsense');
  });

  it('says so when the stored password is not the one of the database', async () => {
    const server = await start();
    await server.stop();
    writeFileSync(join(folder.path, 'data', 'postgres-password'), 'another\n');
    await expect(start()).rejects.toThrow(/does not accept the password/);
    expect(existsSync(join(server.dataFolder, 'postmaster.pid'))).toBe(false);
  });
});
