import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aContext } from '../../../test/builders.ts';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { untilWaiting } from '../../../test/until-waiting.ts';
import type { Tx } from '../database/db.ts';
import { evaluateFlags } from '../evaluation/match/evaluate-flags.ts';
import { createProject } from '../projects/projects-commands.ts';
import { raiseProjectRevision } from '../projects/projects-writes.ts';
import { compilePattern } from '../targeting/patterns.ts';
import { loadProject } from './load-definitions.ts';

const NOW = new Date('2026-01-15T12:00:00Z');
const EVERYBODY = JSON.stringify({ groups: [{ properties: [], rollout_percentage: 100 }] });

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());
beforeEach(async () => {
  projectId = (await write((tx) => createProject(tx, { name: 'p' }))).project.id;
});

function write<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return database.db.transaction(work);
}

const load = (db = database.db) => loadProject(db, projectId, compilePattern, () => NOW);

/** The keys of the flags that are on for somebody, as the snapshot decides. */
async function keysOn(): Promise<string[]> {
  const loaded = await load();
  if (loaded === undefined) throw new Error('The project is missing.');
  const { outcomes } = evaluateFlags(loaded.snapshot, aContext(), { now: NOW });
  return outcomes.filter(({ enabled }) => enabled).map(({ flag }) => flag.key);
}

describe('loadProject', () => {
  it('has flags by key and group types by index, of this project only', async () => {
    const other = (await write((tx) => createProject(tx, { name: 'q' }))).project;
    await write(async (tx) => {
      await tx('feature_flags').insert([
        { project_id: projectId, key: 'b' },
        { project_id: projectId, key: 'a' },
        { project_id: projectId, key: 'deleted', deleted: true },
        { project_id: other.id, key: 'theirs' },
      ]);
      await tx('group_types').insert([
        { project_id: projectId, group_type_index: 1, group_type: 'team' },
        { project_id: projectId, group_type_index: 0, group_type: 'company' },
        { project_id: other.id, group_type_index: 0, group_type: 'theirs' },
      ]);
    });
    const loaded = await load();
    expect(loaded?.project).toMatchObject({ id: projectId, name: 'p', revision: 1 });
    expect(loaded?.flags.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(loaded?.groupTypes.map(({ groupType }) => groupType)).toEqual(['company', 'team']);
    expect(loaded?.loadedAt).toEqual(NOW);
  });

  it('is ready to evaluate', async () => {
    await write((tx) =>
      tx('feature_flags').insert([
        { project_id: projectId, key: 'on', filters: EVERYBODY },
        { project_id: projectId, key: 'inactive', filters: EVERYBODY, active: false },
        { project_id: projectId, key: 'nobody' },
      ]),
    );
    expect(await keysOn()).toEqual(['on']);
  });

  it('never evaluates a flag whose payloads are secret', async () => {
    await write((tx) =>
      tx('feature_flags').insert({
        project_id: projectId,
        key: 'secret',
        filters: EVERYBODY,
        has_encrypted_payloads: true,
      }),
    );
    expect(await keysOn()).toEqual([]);
  });

  it('knows no project that does not exist', async () => {
    expect(await loadProject(database.db, 999_999, compilePattern, () => NOW)).toBeUndefined();
  });

  it('is all of one moment, whatever is committed while it reads', async () => {
    const { loading } = await write(async (tx) => {
      // Holds the reader up between the project and the flags until this is committed.
      await tx.raw('LOCK TABLE feature_flags IN ACCESS EXCLUSIVE MODE');
      const started = load();
      await untilWaiting(database.db);
      await tx('feature_flags').insert({ project_id: projectId, key: 'late' });
      await raiseProjectRevision(tx, projectId);
      return { loading: started };
    });
    const loaded = await loading;
    expect(loaded?.project.revision).toBe(1);
    expect(loaded?.flags).toEqual([]);
    expect((await load())?.flags.map(({ key }) => key)).toEqual(['late']);
  });
});
