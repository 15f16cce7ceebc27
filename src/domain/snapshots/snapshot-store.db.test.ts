import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createDb, type Tx } from '../database/db.ts';
import type { Project } from '../projects/project.ts';
import { createProject } from '../projects/projects-commands.ts';
import { raiseProjectRevision } from '../projects/projects-writes.ts';
import { compilePattern } from '../targeting/patterns.ts';
import { SnapshotStore } from './snapshot-store.ts';

let database: DisposableDatabase;
let project: Project;
let store: SnapshotStore;
let now = new Date('2026-01-01T00:00:00Z');
/** How often a project was looked up by its token, and how often one was loaded. */
let lookUps = 0;
let loads = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  database.db.on('query', ({ sql }: { sql: string }) => {
    if (sql.includes('api_token = ANY ($1::text[])')) lookUps += 1;
    if (sql.includes('FROM feature_flags')) loads += 1;
  });
});
afterAll(() => database.destroy());
beforeEach(async () => {
  project = (await write((tx) => createProject(tx, { name: 'p' }))).project;
  store = new SnapshotStore({ db: database.db, compilePattern, now: () => now });
  lookUps = 0;
  loads = 0;
});

function write<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return database.db.transaction(work);
}

/** Adds a flag as another process would, and returns the new revision. */
function addFlag(key: string): Promise<number> {
  return write(async (tx) => {
    await tx('feature_flags').insert({ project_id: project.id, key });
    return raiseProjectRevision(tx, project.id);
  });
}

const keysServed = () => store.getByToken(project.apiToken)?.flags.map(({ key }) => key);

describe('loadAll', () => {
  it('makes the store ready, with every project', async () => {
    const other = (await write((tx) => createProject(tx, { name: 'q' }))).project;
    await addFlag('a');
    expect(store.isLoaded).toBe(false);
    await store.loadAll();
    expect(store.isLoaded).toBe(true);
    expect(keysServed()).toEqual(['a']);
    const served = [...store.list()].map((each) => each.project.id);
    expect(served).toEqual(expect.arrayContaining([project.id, other.id]));
  });

  it('leaves the store unready when it fails', async () => {
    const db = createDb({ ...database.connection, host: '127.0.0.1', port: 1 });
    const lost = new SnapshotStore({ db, compilePattern, now: () => now });
    await expect(lost.loadAll()).rejects.toThrow();
    expect(lost.isLoaded).toBe(false);
    await db.destroy();
  });
});

describe('findByToken', () => {
  it('looks a project up once for all who ask at the same time', async () => {
    const found = await Promise.all(
      Array.from({ length: 20 }, () => store.findByToken(project.apiToken)),
    );
    expect(new Set(found).size).toBe(1);
    expect(found[0]?.project.id).toBe(project.id);
    await store.findByToken(project.apiToken);
    expect({ lookUps, loads }).toEqual({ lookUps: 1, loads: 1 });
  });

  it('looks an unknown token up once, and again a second later', async () => {
    const found = await Promise.all(
      Array.from({ length: 20 }, () => store.findByToken('phc_nobody')),
    );
    expect(new Set(found)).toEqual(new Set([undefined]));
    await store.findByToken('phc_nobody');
    expect(lookUps).toBe(1);
    now = new Date(now.getTime() + 1_001);
    await store.findByToken('phc_nobody');
    expect(lookUps).toBe(2);
  });

  it('finds a project at once that was added after its token was unknown', async () => {
    expect(await store.findByToken('phc_later')).toBeUndefined();
    await write((tx) => createProject(tx, { name: 'later', apiToken: 'phc_later' }));
    store.forgetUnknownTokens();
    expect(await store.findByToken('phc_later')).toMatchObject({ project: { name: 'later' } });
  });

  it.each(['', 'has space', 'x'.repeat(201), 'nul\0', 'ümlaut'])(
    'does not ask the database for the impossible token %j',
    async (token) => {
      expect(await store.findByToken(token)).toBeUndefined();
      expect(lookUps).toBe(0);
    },
  );

  it('tells an outage as unavailable and not as an unknown token', async () => {
    const db = createDb({ ...database.connection, host: '127.0.0.1', port: 1 });
    const lost = new SnapshotStore({ db, compilePattern, now: () => now });
    await expect(lost.findByToken(project.apiToken)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(lost.getByProjectId(project.id)).rejects.toMatchObject({ kind: 'unavailable' });
    await db.destroy();
  });

  it('serves a project in memory although the database is away', async () => {
    const db = createDb(database.connection);
    const cut = new SnapshotStore({ db, compilePattern, now: () => now });
    await cut.loadAll();
    await db.destroy();
    expect(await cut.findByToken(project.apiToken)).toMatchObject({ project: { id: project.id } });
  });
});

describe('getByProjectId', () => {
  it('loads a project once for all who ask at the same time', async () => {
    const found = await Promise.all(
      Array.from({ length: 20 }, () => store.getByProjectId(project.id)),
    );
    expect(new Set(found).size).toBe(1);
    expect(loads).toBe(1);
  });

  it('knows no project that does not exist', async () => {
    expect(await store.getByProjectId(999_999)).toBeUndefined();
  });
});

describe('catchUp', () => {
  it('serves the new revision when it returns', async () => {
    await store.loadAll();
    const revision = await addFlag('a');
    expect(keysServed()).toEqual([]);
    await store.catchUp(project.id, revision);
    expect(keysServed()).toEqual(['a']);
  });

  it('does nothing when the revision is served already', async () => {
    await store.loadAll();
    loads = 0;
    await store.catchUp(project.id, project.revision);
    expect(loads).toBe(0);
  });

  it('is not content with a load that started before the change', async () => {
    await store.loadAll();
    const early = store.catchUp(project.id, project.revision + 1);
    const revision = await addFlag('a');
    await store.catchUp(project.id, revision);
    expect(store.getByToken(project.apiToken)?.project.revision).toBe(revision);
    await early;
  });

  it('serves every change of many that are announced at once', async () => {
    await store.loadAll();
    const keys = Array.from({ length: 8 }, (_, index) => `f${index}`);
    await Promise.all(keys.map(async (key) => store.catchUp(project.id, await addFlag(key))));
    expect(keysServed()).toEqual(keys);
  });

  it('never goes back to an older revision', async () => {
    const revision = await addFlag('a');
    await store.loadAll();
    // A replica that lags behind, say.
    await database
      .db('projects')
      .where({ id: project.id })
      .update({ revision: revision - 1 });
    await database.db('feature_flags').where({ project_id: project.id }).delete();
    await store.catchUp(project.id, revision + 1);
    expect(store.getByToken(project.apiToken)?.project.revision).toBe(revision);
    expect(keysServed()).toEqual(['a']);
  });

  it('leaves what somebody holds as it was', async () => {
    await store.loadAll();
    const held = store.getByToken(project.apiToken);
    await store.catchUp(project.id, await addFlag('a'));
    expect(held?.flags).toEqual([]);
    expect(store.getByToken(project.apiToken)).not.toBe(held);
  });

  it('answers to a new token and no longer to the old one', async () => {
    await store.loadAll();
    const revision = await write(async (tx) => {
      await tx('projects')
        .where({ id: project.id })
        .update({ api_token: `phc_new${project.id}` });
      return raiseProjectRevision(tx, project.id);
    });
    await store.catchUp(project.id, revision);
    expect(store.getByToken(project.apiToken)).toBeUndefined();
    expect(store.getByToken(`phc_new${project.id}`)?.project.id).toBe(project.id);
  });

  it('loads a project that is new to this process', async () => {
    await store.catchUp(project.id, 1);
    expect(store.getByToken(project.apiToken)?.project.id).toBe(project.id);
  });

  it('comes to an end for a revision that does not exist', async () => {
    for (const [projectId, revision] of [
      [project.id, 1_000],
      [999_999, 1],
    ] as const) {
      loads = 0;
      await store.catchUp(projectId, revision);
      // Twice at most: once more in case somebody else had begun to load before.
      expect(loads).toBeLessThanOrEqual(2);
    }
  });
});
