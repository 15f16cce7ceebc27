import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createProject, createUser } from '../projects/projects-commands.ts';
import { listActivity } from './activity-queries.ts';
import { type NewActivity, writeActivity } from './activity-writes.ts';

let database: DisposableDatabase;
let projectId = 0;
let userId = 0;

const CHANGE = {
  type: 'FeatureFlag',
  action: 'changed',
  field: 'active',
  before: true,
  after: false,
} as const;

async function write(overrides: Partial<NewActivity>): Promise<void> {
  await database.db.transaction((tx) =>
    writeActivity(tx, {
      projectId,
      userId,
      activity: 'updated',
      scope: 'FeatureFlag',
      itemId: '1',
      name: 'a-flag',
      changes: [CHANGE],
      ...overrides,
    }),
  );
}

beforeAll(async () => {
  database = await createDisposableDatabase();
  const others = await database.db.transaction(async (tx) => {
    projectId = (await createProject(tx, { name: 'p' })).project.id;
    userId = (await createUser(tx, { email: 'ann@example.com' })).id;
    return (await createProject(tx, { name: 'q' })).project.id;
  });
  await write({ activity: 'created', changes: [] });
  await write({ itemId: '2' });
  await write({ userId: null });
  await write({ scope: 'Cohort' });
  await write({ projectId: others });
});
afterAll(() => database.destroy());

const list = (query: { itemId?: string; limit?: number; offset?: number; scope?: string }) =>
  listActivity(database.db, { projectId, scope: 'FeatureFlag', limit: 10, offset: 0, ...query });

describe('listActivity', () => {
  it('has the entries of one scope of one project, newest first', async () => {
    const { entries, totalCount } = await list({});
    expect(entries.map(({ itemId, activity }) => [itemId, activity])).toEqual([
      ['1', 'updated'],
      ['2', 'updated'],
      ['1', 'created'],
    ]);
    expect(totalCount).toBe(3);
  });

  it('has the entries of one thing', async () => {
    const { entries, totalCount } = await list({ itemId: '2' });
    expect(entries).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        userEmail: 'ann@example.com',
        activity: 'updated',
        scope: 'FeatureFlag',
        itemId: '2',
        name: 'a-flag',
        changes: [CHANGE],
        createdAt: expect.any(Date),
      },
    ]);
    expect(totalCount).toBe(1);
  });

  it('has no user for what no person did', async () => {
    const { entries } = await list({ itemId: '1', limit: 1 });
    expect(entries[0]?.userEmail).toBeNull();
  });

  it.each([
    [2, 0, 2],
    [2, 2, 1],
    [2, 4, 0],
  ])('has with limit %d and offset %d %d entries of 3', async (limit, offset, length) => {
    const { entries, totalCount } = await list({ limit, offset });
    expect(entries).toHaveLength(length);
    expect(totalCount).toBe(3);
  });

  it('keeps the order of entries of one transaction, which share their time', async () => {
    await database.db.transaction(async (tx) => {
      for (const itemId of ['1', '2', '3']) {
        const entry = { projectId, userId, activity: 'created', scope: 'Order' } as const;
        await writeActivity(tx, { ...entry, itemId, name: 'x', changes: [] });
      }
    });
    const { entries } = await list({ scope: 'Order' });
    expect(entries.map(({ itemId }) => itemId)).toEqual(['3', '2', '1']);
  });
});
