import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { untilWaiting } from '../../../test/until-waiting.ts';
import { createDb, type Tx } from '../database/db.ts';
import { changeProject, type ProjectChanges } from './change-project.ts';
import { createProject } from './projects-commands.ts';
import { getProject } from './projects-queries.ts';

let database: DisposableDatabase;
let projectId = 0;
let committed: number[] = [];
let changes: ProjectChanges;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());
beforeEach(async () => {
  const { project } = await database.db.transaction((tx) => createProject(tx, { name: 'p' }));
  projectId = project.id;
  committed = [];
  changes = {
    db: database.db,
    onCommitted: async (_projectId, revision) => {
      committed.push(revision);
    },
  };
});

const readRevision = async () => (await getProject(database.db, projectId))?.revision;

describe('changeProject', () => {
  it('returns the result once the new revision is committed and served', async () => {
    let revisionWhenServed: number | undefined;
    const result = await changeProject(
      {
        ...changes,
        onCommitted: async () => {
          revisionWhenServed = await readRevision();
        },
      },
      projectId,
      async () => 'done',
    );
    expect(result).toBe('done');
    expect(revisionWhenServed).toBe(await readRevision());
  });

  it('takes everything back when the change fails, and tells its error', async () => {
    const before = await getProject(database.db, projectId);
    const failure = new Error('no');
    const change = changeProject(changes, projectId, async (tx) => {
      await tx('projects').where({ id: projectId }).update({ name: 'renamed' });
      throw failure;
    });
    await expect(change).rejects.toBe(failure);
    expect(await getProject(database.db, projectId)).toEqual(before);
    expect(committed).toEqual([]);
  });

  it('puts the writers of a project in line', async () => {
    let inside = 0;
    let mostInside = 0;
    await Promise.all(
      Array.from({ length: 6 }, () =>
        changeProject(changes, projectId, async (tx) => {
          await tx.raw('SELECT 1');
          inside += 1;
          mostInside = Math.max(mostInside, inside);
          await tx.raw('SELECT 1');
          inside -= 1;
        }),
      ),
    );
    expect(mostInside).toBe(1);
    expect(new Set(committed).size).toBe(6);
  });

  it.each<[string, (tx: Tx) => PromiseLike<unknown>]>([
    ['a raw statement', (tx) => tx.raw('SELECT 1')],
    ['a raw statement that is asked for at once', (tx) => tx.raw('SELECT 1').then(() => {})],
    ['a query', (tx) => tx('users').where({ id: 1 })],
    [
      'a query that is asked for at once',
      (tx) =>
        tx('users')
          .where({ id: 1 })
          .catch(() => []),
    ],
    ['a query for one row', (tx) => tx('users').where({ id: 1 }).forUpdate().first()],
    ['an insert', (tx) => tx('cohorts').insert({ project_id: projectId, name: 'c' })],
  ])('has the lock before anything else when a change begins with %s', async (_what, first) => {
    const sent: string[] = [];
    const db = createDb(database.connection, 1);
    db.on('query', ({ sql }: { sql: string }) => sent.push(sql));
    await changeProject({ ...changes, db }, projectId, async (tx) => first(tx));
    await db.destroy();
    expect(sent).toHaveLength(4);
    expect(sent[0]).toMatch(/^BEGIN/);
    expect(sent[1]).toContain('UPDATE projects SET revision');
    expect(sent[3]).toMatch(/^COMMIT/);
  });

  it('does not hold up the writers of another project', async () => {
    const { project } = await database.db.transaction((tx) => createProject(tx, { name: 'q' }));
    await changeProject(changes, projectId, async () => {
      await changeProject(changes, project.id, async () => {});
    });
    expect(committed).toHaveLength(2);
  });

  it('does not end while its connection waits for the lock, although the change failed', async () => {
    const sent: string[] = [];
    const db = createDb(database.connection, 1);
    db.on('query', ({ sql }: { sql: string }) => sent.push(sql));
    const failure = new Error('refused before any statement');
    const holder = await database.db.transaction();
    await holder('projects').where({ id: projectId }).forUpdate().first();
    const change = changeProject({ ...changes, db }, projectId, () => Promise.reject(failure));
    const rejected = expect(change).rejects.toBe(failure);
    await untilWaiting(database.db);
    expect(sent).toEqual([
      expect.stringMatching(/^BEGIN/),
      expect.stringContaining('UPDATE projects SET revision'),
    ]);
    await holder.rollback();
    await rejected;
    expect(sent[2]).toMatch(/^ROLLBACK/);
    expect((await db.raw('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await db.destroy();
  });

  it('tells an outage as unavailable', async () => {
    const db = createDb({ ...database.connection, host: '127.0.0.1', port: 1 });
    const change = changeProject({ ...changes, db }, projectId, async () => {});
    await expect(change).rejects.toMatchObject({ kind: 'unavailable' });
    await db.destroy();
  });

  it('tells it as unavailable when the connection is lost in the middle', async () => {
    const change = changeProject(changes, projectId, (tx) =>
      tx.raw('SELECT pg_terminate_backend(pg_backend_pid())'),
    );
    await expect(change).rejects.toMatchObject({ kind: 'unavailable' });
    expect(committed).toEqual([]);
  });
});
