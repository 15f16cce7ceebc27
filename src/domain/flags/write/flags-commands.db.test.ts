import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { listActivity } from '../../activity/activity-queries.ts';
import { addMember, createProject, createUser } from '../../projects/projects-commands.ts';
import { getProject } from '../../projects/projects-queries.ts';
import { compilePattern } from '../../targeting/patterns.ts';
import { getFlag, listAllFlags } from '../list/flags-queries.ts';
import { createFlag, type FlagCommandsContext, updateFlag } from './flags-commands.ts';
import { ACTIVITY_SCOPE, type Author } from './flags-writes.ts';

const NOW = new Date('2026-01-15T12:00:00.123Z');

let database: DisposableDatabase;
let userId = 0;
let author: Author = { projectId: 0, userId: null };
let committed: [number, number][] = [];

beforeAll(async () => {
  database = await createDisposableDatabase();
  userId = (await database.db.transaction((tx) => createUser(tx, { email: 'ann@example.com' }))).id;
});
afterAll(() => database.destroy());
beforeEach(async () => {
  const { project } = await database.db.transaction(async (tx) => {
    const created = await createProject(tx, { name: 'p' });
    await addMember(tx, userId, created.project.id);
    return created;
  });
  author = { projectId: project.id, userId };
  committed = [];
});

function aContext(overrides: Partial<FlagCommandsContext> = {}): FlagCommandsContext {
  return {
    db: database.db,
    compilePattern,
    payloadCipher: null,
    limits: { maxFlagsPerProject: 2_000, maxFiltersBytes: 524_288 },
    now: () => NOW,
    onCommitted: async (projectId, revision) => {
      committed.push([projectId, revision]);
    },
    ...overrides,
  };
}

async function readActivity() {
  const query = { projectId: author.projectId, scope: ACTIVITY_SCOPE, limit: 100, offset: 0 };
  return (await listActivity(database.db, query)).entries;
}

const readRevision = async () => (await getProject(database.db, author.projectId))?.revision;

describe('createFlag', () => {
  it('stores the flag with version 1, its author and one activity row', async () => {
    const { flag, createdBy } = await createFlag(aContext(), author, {
      key: 'new-checkout',
      filters: { groups: [{ rollout_percentage: 50 }], payloads: { true: { a: 1 } } },
      tags: ['web', 'web'],
    });
    expect(flag).toMatchObject({
      projectId: author.projectId,
      key: 'new-checkout',
      version: 1,
      active: true,
      deleted: false,
      tags: ['web'],
      filters: { groups: [{ rollout_percentage: 50 }], payloads: { true: '{"a":1}' } },
      createdAt: NOW,
      updatedAt: NOW,
    });
    expect(createdBy?.email).toBe('ann@example.com');
    expect(await readActivity()).toMatchObject([
      { activity: 'created', itemId: String(flag.id), name: 'new-checkout', changes: [] },
    ]);
  });

  it('is off for everybody when it comes without filters', async () => {
    const { flag } = await createFlag(aContext(), author, { key: 'bare' });
    expect(flag.filters).toEqual({ groups: [] });
  });

  it('tells the revision that it committed', async () => {
    await createFlag(aContext(), author, { key: 'a' });
    expect(committed).toEqual([[author.projectId, await readRevision()]]);
  });

  it('lets exactly one of several at once have the key', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => createFlag(aContext(), author, { key: 'wanted' })),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(4);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({
        kind: 'invalid',
        code: 'unique',
        attr: 'key',
        detail: 'There is already a feature flag with this key.',
      });
    }
    expect(await listAllFlags(database.db, author.projectId)).toHaveLength(1);
    expect(await readActivity()).toHaveLength(1);
  });

  it('takes keys that differ in case, and the same key in another project', async () => {
    await createFlag(aContext(), author, { key: 'key' });
    await createFlag(aContext(), author, { key: 'KEY' });
    const { project } = await database.db.transaction((tx) => createProject(tx, { name: 'q' }));
    await createFlag(aContext(), { projectId: project.id, userId }, { key: 'key' });
    expect(await listAllFlags(database.db, author.projectId)).toHaveLength(2);
  });

  it('takes a key that only a deleted flag holds', async () => {
    const { flag } = await createFlag(aContext(), author, { key: 'again' });
    await updateFlag(aContext(), author, flag.id, { deleted: true });
    const second = await createFlag(aContext(), author, { key: 'again' });
    expect(second.flag.id).not.toBe(flag.id);
    await expect(updateFlag(aContext(), author, flag.id, { deleted: false })).rejects.toMatchObject(
      { code: 'unique', attr: 'key' },
    );
  });
});

describe('updateFlag', () => {
  it('changes what is sent, raises the version and says what changed', async () => {
    const { flag } = await createFlag(aContext(), author, { key: 'a', name: 'old', tags: ['web'] });
    const { flag: changed } = await updateFlag(aContext(), author, flag.id, {
      name: 'new',
      active: false,
    });
    expect(changed).toMatchObject({ name: 'new', active: false, version: 2, tags: ['web'] });
    const [entry] = await readActivity();
    expect(entry).toMatchObject({ activity: 'updated', userEmail: 'ann@example.com' });
    expect(entry?.changes.map(({ field, before, after }) => [field, before, after])).toEqual([
      ['name', 'old', 'new'],
      ['active', true, false],
      ['version', 1, 2],
    ]);
  });

  it('merges filters by their top-level keys', async () => {
    const { flag } = await createFlag(aContext(), author, {
      key: 'a',
      filters: { groups: [{ rollout_percentage: 10 }], payloads: { true: '1' } },
    });
    const { flag: changed } = await updateFlag(aContext(), author, flag.id, {
      filters: { groups: [{ rollout_percentage: 20 }] },
    });
    expect(changed.filters).toEqual({
      groups: [{ rollout_percentage: 20 }],
      payloads: { true: '1' },
    });
  });

  it('checks the filters as they will be stored, not as they were sent', async () => {
    const { flag } = await createFlag(aContext(), author, {
      key: 'a',
      filters: { groups: [{}], payloads: { true: '1' } },
    });
    const multivariate = { variants: [{ key: 'v', rollout_percentage: 100 }] };
    await expect(
      updateFlag(aContext(), author, flag.id, { filters: { multivariate } }),
    ).rejects.toMatchObject({
      detail: 'Payload keys must match a variant key for multivariate flags',
    });
  });

  it('tells a deletion and a restoration by their names', async () => {
    const { flag } = await createFlag(aContext(), author, { key: 'a' });
    await updateFlag(aContext(), author, flag.id, { deleted: true });
    await updateFlag(aContext(), author, flag.id, { deleted: false });
    const names = (await readActivity()).map(({ activity }) => activity);
    expect(names).toEqual(['restored', 'deleted', 'created']);
  });

  it('loses none of several changes at once', async () => {
    const { flag } = await createFlag(aContext(), author, { key: 'a' });
    await Promise.all([
      updateFlag(aContext(), author, flag.id, { name: 'named' }),
      updateFlag(aContext(), author, flag.id, { active: false }),
      updateFlag(aContext(), author, flag.id, { tags: ['web'] }),
      updateFlag(aContext(), author, flag.id, { filters: { groups: [{}] } }),
      updateFlag(aContext(), author, flag.id, { filters: { payloads: { true: '1' } } }),
    ]);
    const found = await getFlag(database.db, author.projectId, flag.id);
    expect(found?.flag).toMatchObject({
      name: 'named',
      active: false,
      tags: ['web'],
      filters: { groups: [{}], payloads: { true: '1' } },
      version: 6,
    });
    const revisions = committed.map(([, revision]) => revision);
    expect(new Set(revisions).size).toBe(6);
    expect(Math.max(...revisions)).toBe(await readRevision());
  });

  it('finds no flag of another project', async () => {
    const { flag } = await createFlag(aContext(), author, { key: 'a' });
    const { project } = await database.db.transaction((tx) => createProject(tx, { name: 'q' }));
    await expect(
      updateFlag(aContext(), { projectId: project.id, userId }, flag.id, { name: 'x' }),
    ).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('refuses the key of another flag, and takes its own', async () => {
    await createFlag(aContext(), author, { key: 'taken' });
    const { flag } = await createFlag(aContext(), author, { key: 'mine' });
    await updateFlag(aContext(), author, flag.id, { key: 'mine' });
    await expect(updateFlag(aContext(), author, flag.id, { key: 'taken' })).rejects.toMatchObject({
      code: 'unique',
    });
  });
});

describe('a command that fails', () => {
  /** Everything that a command may leave behind. */
  async function everything() {
    return {
      flags: await listAllFlags(database.db, author.projectId),
      activity: await readActivity(),
      revision: await readRevision(),
      committed: [...committed],
    };
  }

  it.each<[string, (id: number) => Promise<unknown>]>([
    ['a taken key', () => createFlag(aContext(), author, { key: 'first' })],
    [
      'bad filters',
      () => createFlag(aContext(), author, { key: 'b', filters: { groups: [{ variant: 'x' }] } }),
    ],
    [
      'filters without a condition',
      () => createFlag(aContext(), author, { key: 'b', filters: { groups: [] } }),
    ],
    [
      'an author who does not exist, which only the end of the transaction could tell',
      () => createFlag(aContext(), { ...author, userId: 999_999 }, { key: 'b' }),
    ],
    [
      'bad filters of a change',
      (id) => updateFlag(aContext(), author, id, { name: 'x', filters: { groups: 5 } }),
    ],
    ['an unknown flag', () => updateFlag(aContext(), author, 999_999, { name: 'x' })],
    [
      'an author of a change who does not exist',
      (id) => updateFlag(aContext(), { ...author, userId: 999_999 }, id, { name: 'x' }),
    ],
  ])('leaves nothing behind: %s', async (_what, command) => {
    const { flag } = await createFlag(aContext(), author, { key: 'first' });
    const before = await everything();
    await expect(command(flag.id)).rejects.toThrow();
    expect(await everything()).toEqual(before);
  });
});
