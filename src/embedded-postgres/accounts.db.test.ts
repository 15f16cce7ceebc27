import { chmodSync, copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { killSpawned, spawnBurgee } from '../../test/embedded-burgee.ts';
import { quietLog } from '../../test/postgres-log.ts';
import { createTemporaryFolder } from '../../test/temporary-folder.ts';
import { createDb } from '../domain/database/db.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { canEnter, isRoot, unprivilegedAccounts } from './install/account.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

const nobody = isRoot() ? unprivilegedAccounts().find(({ name }) => name === 'nobody') : undefined;
const canBeNobody = nobody !== undefined && canEnter(REPOSITORY, nobody);

describe('the embedded server and the user who runs Burgee', { timeout: 60_000 }, () => {
  let folder: ReturnType<typeof createTemporaryFolder>;
  const programs = createTemporaryFolder();

  afterAll(() => programs.remove());

  beforeEach(() => {
    folder = createTemporaryFolder();
  });

  /** The Node.js that runs this, as a copy where its own folder is closed to others. */
  function nodeForNobody(): string {
    if (canEnter(dirname(process.execPath), nobody)) return process.execPath;
    const copy = join(programs.path, 'node');
    if (!existsSync(copy)) copyFileSync(process.execPath, copy);
    return copy;
  }

  afterEach(() => {
    killSpawned();
    folder.remove();
  });

  it.runIf(isRoot())(
    'as root, keeps the data in a system folder when the data folder is closed, and says so (runs as root only)',
    async () => {
      const closed = join(folder.path, 'closed');
      mkdirSync(closed);
      chmodSync(closed, 0o700);
      const messages: string[] = [];
      const options = {
        dataDir: join(closed, 'data'),
        systemFolder: join(folder.path, 'system'),
        log: { ...quietLog, info: (message: string) => messages.push(message) },
        mode: 'serve',
        settings: { fsync: 'off' },
      } as const;
      const first = await startEmbeddedPostgres(options);
      const db = createDb(first.connection);
      await db.raw('CREATE TABLE kept (id integer)');
      await db.destroy();
      await first.stop();
      expect(first.dataFolder.startsWith(options.systemFolder)).toBe(true);
      expect(messages.join('\n')).toContain(
        `The database lives in ${first.dataFolder} and not in ${options.dataDir}`,
      );
      expect(statSync(closed).mode & 0o777).toBe(0o700);

      // The data stays where it is when the folder is opened later.
      chmodSync(closed, 0o755);
      const second = await startEmbeddedPostgres(options);
      const again = createDb(second.connection);
      expect((await again.raw('SELECT id FROM kept')).rows).toEqual([]);
      await again.destroy();
      await second.stop();
    },
  );

  it.runIf(isRoot())(
    'as root, says so when the data folder was closed after the first start (runs as root only)',
    async () => {
      const parent = join(folder.path, 'parent');
      mkdirSync(parent, { mode: 0o755 });
      const options = { dataDir: join(parent, 'data'), log: quietLog, mode: 'serve' } as const;
      await (await startEmbeddedPostgres(options)).stop();
      chmodSync(parent, 0o700);
      await expect(startEmbeddedPostgres(options)).rejects.toThrow(
        /account \w+, which cannot reach/,
      );
    },
  );

  it.runIf(isRoot())(
    'as root, gives the files to an unprivileged account and keeps the password (runs as root only)',
    async () => {
      const dataDir = join(folder.path, 'data');
      const server = await startEmbeddedPostgres({ dataDir, log: quietLog, mode: 'serve' });
      expect(statSync(server.dataFolder).uid).toBe(unprivilegedAccounts()[0].uid);
      expect(statSync(join(dataDir, 'postgres-password')).uid).toBe(0);
      await server.stop();
    },
  );

  it.runIf(!isRoot())(
    'as an ordinary user, keeps everything in the data folder (runs as an ordinary user only)',
    async () => {
      const dataDir = join(folder.path, 'data');
      const server = await startEmbeddedPostgres({ dataDir, log: quietLog, mode: 'serve' });
      expect(server.dataFolder).toBe(join(dataDir, 'postgres'));
      expect(statSync(server.dataFolder).uid).toBe(process.getuid?.());
      await server.stop();
    },
  );

  it.runIf(canBeNobody)(
    'works as an ordinary user, and refuses root afterwards (runs as root with an open checkout only)',
    async () => {
      chmodSync(folder.path, 0o777);
      const dataDir = join(folder.path, 'data');
      const burgee = spawnBurgee(dataDir, 'serve', nobody, nodeForNobody());
      expect(await burgee.started).toMatchObject({
        event: 'ready',
        dataFolder: join(dataDir, 'postgres'),
      });
      await burgee.end('SIGTERM');
      expect(statSync(join(dataDir, 'postgres')).uid).toBe(nobody?.uid);
      await expect(
        startEmbeddedPostgres({ dataDir, log: quietLog, mode: 'serve' }),
      ).rejects.toThrow(/belongs to user \d+, and Burgee now runs as root/);
    },
  );

  it.runIf(canBeNobody)(
    'refuses an ordinary user on a folder that root used first (runs as root with an open checkout only)',
    async () => {
      const dataDir = join(folder.path, 'data');
      const server = await startEmbeddedPostgres({ dataDir, log: quietLog, mode: 'serve' });
      await server.stop();
      expect(await spawnBurgee(dataDir, 'serve', nobody, nodeForNobody()).started).toMatchObject({
        event: 'failed',
        name: 'EmbeddedPostgresError',
        message: expect.stringMatching(/belongs to root, and Burgee now runs as user \d+/),
      });
      chmodSync(folder.path, 0o700);
      expect(await spawnBurgee(dataDir, 'serve', nobody, nodeForNobody()).started).toMatchObject({
        event: 'failed',
        message: expect.stringMatching(/running as user \d+, may not use its data folder/),
      });
    },
  );
});
