import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import type { Tx } from '../database/db.ts';
import { createProject } from '../projects/projects-commands.ts';
import { raiseIdentityRevision, raiseProjectRevision } from '../projects/projects-writes.ts';
import {
  type ChangeListener,
  type ChangeListenerOptions,
  createChangeListener,
} from './change-listener.ts';

const NEVER_MS = 600_000;

let database: DisposableDatabase;
let projectId = 0;
let listener: ChangeListener | null = null;
/** The newest revision of the project that was heard of. */
let revision = 0;
let identityChanges = 0;

beforeEach(async () => {
  database = await createDisposableDatabase();
  projectId = (await write((tx) => createProject(tx, { name: 'p' }))).project.id;
  revision = 0;
  identityChanges = 0;
});
afterEach(async () => {
  await listener?.stop();
  listener = null;
  await database.destroy();
});

function write<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return database.db.transaction(work);
}

async function start(options: Partial<ChangeListenerOptions> = {}): Promise<ChangeListener> {
  listener = createChangeListener({
    connection: database.connection,
    db: database.db,
    onProject: async (id, reached) => {
      if (id === projectId) revision = Math.max(revision, reached);
    },
    onIdentity: () => {
      identityChanges += 1;
    },
    log: { warn: () => {} },
    pollEveryMs: NEVER_MS,
    ...options,
  });
  await listener.start();
  return listener;
}

const raise = () => write((tx) => raiseProjectRevision(tx, projectId));

/** The server's processes that listen for changes of this database. */
async function listListeners(): Promise<number[]> {
  const { rows } = await database.db.raw<{ rows: { pid: number }[] }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
  );
  return rows.map(({ pid }) => pid);
}

async function cutListeners(): Promise<void> {
  const pids = await listListeners();
  await database.db.raw('SELECT pg_terminate_backend(pid) FROM unnest(?::int[]) AS pid', [pids]);
}

const heard = (wanted: number) =>
  vi.waitFor(() => expect(revision).toBe(wanted), { timeout: 10_000, interval: 5 });

describe('a listener', () => {
  it('knows the state of everything when it has started', async () => {
    const raised = await raise();
    await start();
    expect(revision).toBe(raised);
    expect(identityChanges).toBe(1);
  });

  it('hears of a change that another connection commits', async () => {
    await start();
    await heard(await raise());
  });

  it('hears nothing of a change that is taken back', async () => {
    await start();
    const before = revision;
    await write(async (tx) => {
      await raiseProjectRevision(tx, projectId);
      throw new Error('changed my mind');
    }).catch(() => {});
    await heard(before);
    await heard(await raise());
    expect(revision).toBe(before + 1);
  });

  it('hears of a change of keys, users or projects', async () => {
    await start();
    await write(raiseIdentityRevision);
    await vi.waitFor(() => expect(identityChanges).toBe(2));
  });

  it('hears of a project that did not exist at the start', async () => {
    await start();
    projectId = (await write((tx) => createProject(tx, { name: 'new' }))).project.id;
    await heard(await raise());
  });

  it('takes an announcement that it does not know for a change of identities', async () => {
    await start();
    await database.db.raw(`NOTIFY burgee_changes, 'from a newer release'`);
    await vi.waitFor(() => expect(identityChanges).toBe(2));
  });

  it('goes on when a change could not be loaded', async () => {
    const warnings: string[] = [];
    let isBroken = false;
    await start({
      log: { warn: (_fields, message) => warnings.push(message) },
      onProject: async (_id, reached) => {
        if (isBroken) throw new Error('no');
        revision = reached;
      },
    });
    isBroken = true;
    await raise();
    await vi.waitFor(() => expect(warnings).toHaveLength(1));
    isBroken = false;
    await heard(await raise());
  });

  it('does not start when it cannot listen, and leaves no connection', async () => {
    await expect(
      start({ connection: { ...database.connection, host: '127.0.0.1', port: 1 } }),
    ).rejects.toThrow();
    await expect(
      start({
        onProject: async () => {
          throw new Error('no');
        },
      }),
    ).rejects.toThrow('no');
    await vi.waitFor(async () => expect(await listListeners()).toEqual([]));
  });
});

describe('a listener that lost its connection', () => {
  it('catches up with what was committed meanwhile, and hears again', async () => {
    await start();
    await cutListeners();
    await write(raiseIdentityRevision);
    await heard(await raise());
    await vi.waitFor(() => expect(identityChanges).toBeGreaterThan(1));
    await vi.waitFor(async () => expect(await listListeners()).toHaveLength(1));
    await heard(await raise());
  });

  it('does so every time', async () => {
    await start();
    for (let round = 0; round < 3; round += 1) {
      await vi.waitFor(async () => expect(await listListeners()).toHaveLength(1));
      await cutListeners();
      await heard(await raise());
    }
  });

  it('ends up with one connection when catching up failed at first', async () => {
    let failures = 2;
    let isStarted = false;
    await start({
      onProject: async (_id, reached) => {
        if (isStarted && failures > 0) {
          failures -= 1;
          throw new Error('not yet');
        }
        revision = reached;
      },
    });
    isStarted = true;
    await cutListeners();
    await heard(await raise());
    await vi.waitFor(async () => expect(await listListeners()).toHaveLength(1));
  });

  it('can be stopped while it connects again', async () => {
    let signal: () => void = () => {};
    const reconnecting = new Promise<void>((resolve) => {
      signal = resolve;
    });
    const started = await start({ log: { warn: () => signal() } });
    await cutListeners();
    await reconnecting;
    await started.stop();
    await vi.waitFor(async () => expect(await listListeners()).toEqual([]));
  });
});

describe('a change that nobody announced', () => {
  it('is found by the next comparison', async () => {
    await start({ pollEveryMs: 5 });
    await database.db('projects').where({ id: projectId }).update({ revision: 50 });
    await heard(50);
    const before = identityChanges;
    await database.db('identity_revision').update({ revision: 70 });
    await vi.waitFor(() => expect(identityChanges).toBe(before + 1));
  });

  it('is found although a comparison before it failed', async () => {
    let failures = 0;
    await start({
      pollEveryMs: 5,
      onProject: async (_id, reached) => {
        if (reached === 50 && failures < 3) {
          failures += 1;
          throw new Error('not yet');
        }
        revision = reached;
      },
    });
    await database.db('projects').where({ id: projectId }).update({ revision: 50 });
    await heard(50);
    expect(failures).toBe(3);
  });
});

describe('a stopped listener', () => {
  it('hears nothing any more and holds no connection', async () => {
    const started = await start({ pollEveryMs: 5 });
    await started.stop();
    const before = revision;
    await raise();
    expect(await listListeners()).toEqual([]);
    expect(revision).toBe(before);
  });

  it('may never have been started', async () => {
    const unused = createChangeListener({
      connection: database.connection,
      db: database.db,
      onProject: async () => {},
      onIdentity: () => {},
      log: { warn: () => {} },
    });
    await expect(unused.stop()).resolves.toBeUndefined();
  });
});
