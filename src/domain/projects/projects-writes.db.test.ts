import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createProject } from './projects-commands.ts';
import { readRevisions } from './projects-queries.ts';
import { CHANGES_CHANNEL, raiseIdentityRevision, raiseProjectRevision } from './projects-writes.ts';

let database: DisposableDatabase;
let client: pg.Client;
let projectId = 0;
let heard: (string | undefined)[] = [];

beforeAll(async () => {
  database = await createDisposableDatabase();
  client = new pg.Client(database.connection);
  await client.connect();
  client.on('notification', ({ payload }) => heard.push(payload));
  await client.query(`LISTEN ${CHANGES_CHANNEL}`);
});
afterAll(async () => {
  await client.end();
  await database.destroy();
});
beforeEach(async () => {
  const { project } = await database.db.transaction((tx) => createProject(tx, { name: 'p' }));
  projectId = project.id;
  await hearAll();
  heard = [];
});

/** Returns once everything that was announced so far has been heard. */
async function hearAll(): Promise<void> {
  await client.query('SELECT 1');
}

const revisionOf = async (id: number) => (await readRevisions(database.db)).projects.get(id);

describe('raiseProjectRevision', () => {
  it('raises by one and announces the new revision', async () => {
    const before = (await revisionOf(projectId)) ?? 0;
    const raised = await database.db.transaction((tx) => raiseProjectRevision(tx, projectId));
    expect(raised).toBe(before + 1);
    expect(await revisionOf(projectId)).toBe(raised);
    await hearAll();
    expect(heard).toEqual([`project:${projectId}:${raised}`]);
  });

  it('announces nothing before the commit, and nothing when it fails', async () => {
    const before = await revisionOf(projectId);
    await database.db
      .transaction(async (tx) => {
        await raiseProjectRevision(tx, projectId);
        await hearAll();
        expect(heard).toEqual([]);
        throw new Error('changed my mind');
      })
      .catch(() => {});
    await hearAll();
    expect(heard).toEqual([]);
    expect(await revisionOf(projectId)).toBe(before);
  });

  it('gives each of several writers a revision of its own', async () => {
    const raised = await Promise.all(
      Array.from({ length: 8 }, () =>
        database.db.transaction((tx) => raiseProjectRevision(tx, projectId)),
      ),
    );
    expect(new Set(raised).size).toBe(8);
    expect(await revisionOf(projectId)).toBe(Math.max(...raised));
  });

  it('leaves other projects alone', async () => {
    const { project } = await database.db.transaction((tx) => createProject(tx, { name: 'q' }));
    await database.db.transaction((tx) => raiseProjectRevision(tx, projectId));
    expect(await revisionOf(project.id)).toBe(project.revision);
  });

  it('fails for a project that does not exist', async () => {
    const raising = database.db.transaction((tx) => raiseProjectRevision(tx, 999_999));
    await expect(raising).rejects.toThrow('Project 999999 does not exist.');
  });
});

describe('raiseIdentityRevision', () => {
  it('raises by one and announces it', async () => {
    const before = (await readRevisions(database.db)).identity;
    expect(await database.db.transaction(raiseIdentityRevision)).toBe(before + 1);
    expect((await readRevisions(database.db)).identity).toBe(before + 1);
    await hearAll();
    expect(heard).toEqual([`identity:${before + 1}`]);
  });
});
