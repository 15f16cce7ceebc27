import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import type { Tx } from '../database/db.ts';
import { createPersonalApiKey, revokePersonalApiKey } from './api-keys-commands.ts';
import { listPersonalApiKeys } from './api-keys-queries.ts';
import { hashKey } from './keys.ts';
import { addMember, createProject, createUser } from './projects-commands.ts';
import { findProjectIdsBySecretHash, readRevisions } from './projects-queries.ts';

let database: DisposableDatabase;
let userId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  userId = (await write((tx) => createUser(tx, { email: 'ann@example.com' }))).id;
});
afterAll(() => database.destroy());

function write<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
  return database.db.transaction(work);
}

describe('createProject', () => {
  it('draws both keys and stores only the hash of the secret one', async () => {
    const { project, secretKey } = await write((tx) => createProject(tx, { name: '  Shop ' }));
    expect(project).toMatchObject({ name: 'Shop', timezone: 'UTC', revision: 1 });
    expect(project.apiToken).toMatch(/^phc_/);
    const hash = hashKey(secretKey);
    expect((await findProjectIdsBySecretHash(database.db, [hash])).get(hash)).toBe(project.id);
    expect(JSON.stringify(await database.db('projects'))).not.toContain(secretKey);
  });

  it('refuses a blank name', async () => {
    await expect(write((tx) => createProject(tx, { name: ' ' }))).rejects.toMatchObject({
      attr: 'name',
      code: 'blank',
    });
  });
});

describe('createUser', () => {
  it('keeps the address as it was written', async () => {
    const user = await write((tx) =>
      createUser(tx, { email: ' Bob@Example.com ', firstName: 'Bob', lastName: 'B' }),
    );
    expect(user).toMatchObject({ email: 'Bob@Example.com', firstName: 'Bob', lastName: 'B' });
  });

  it('lets one of several at once have an address, whatever its case', async () => {
    const results = await Promise.allSettled(
      ['eve@example.com', 'EVE@example.com', 'Eve@Example.com'].map((email) =>
        write((tx) => createUser(tx, { email })),
      ),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(2);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ attr: 'email', code: 'unique' });
    }
  });

  it.each(['', 'ann', 'ann@', '@example.com', 'a b@example.com', 'a@b@c'])(
    'refuses the address %j',
    async (email) => {
      await expect(write((tx) => createUser(tx, { email }))).rejects.toMatchObject({
        attr: 'email',
        detail: 'Enter a valid email address.',
      });
    },
  );
});

describe('addMember', () => {
  it('changes nothing the second time', async () => {
    const { project } = await write((tx) => createProject(tx, { name: 'p' }));
    await write((tx) => addMember(tx, userId, project.id));
    await write((tx) => addMember(tx, userId, project.id));
    const members = await database.db('project_memberships').where({ project_id: project.id });
    expect(members).toHaveLength(1);
  });
});

describe('personal API keys', () => {
  const aKey = { label: ' CI ', scopes: ['feature_flag:read'], projectIds: null };

  it('are listed without their secret until and after they are revoked', async () => {
    const { id, key } = await write((tx) => createPersonalApiKey(tx, { ...aKey, userId }));
    const find = async () =>
      (await listPersonalApiKeys(database.db)).find((listed) => listed.id === id);
    expect(await find()).toEqual({
      id,
      userId,
      userEmail: 'ann@example.com',
      label: 'CI',
      hint: `phx_...${key.slice(-4)}`,
      scopes: ['feature_flag:read'],
      projectIds: null,
      createdAt: expect.any(Date),
      revokedAt: null,
    });
    await revokePersonalApiKey(database.db, id);
    expect(await find()).toMatchObject({ revokedAt: expect.any(Date) });
    expect(JSON.stringify(await database.db('personal_api_keys'))).not.toContain(key);
  });

  it.each([
    ['no label', { label: ' ' }, { attr: 'label', code: 'blank' }],
    ['no scope', { scopes: [] }, { attr: 'scopes', code: 'required' }],
    [
      'an unknown scope',
      { scopes: ['feature_flag:read', 'root'] },
      { attr: 'scopes', detail: 'Invalid scope: root' },
    ],
  ])('are refused with %s', async (_what, overrides, error) => {
    const creating = write((tx) => createPersonalApiKey(tx, { ...aKey, userId, ...overrides }));
    await expect(creating).rejects.toMatchObject(error);
  });

  it('cannot be revoked twice, nor when they never were', async () => {
    const { id } = await write((tx) => createPersonalApiKey(tx, { ...aKey, userId }));
    await revokePersonalApiKey(database.db, id);
    for (const unknown of [id, 'not-a-uuid', '00000000-0000-4000-8000-000000000000']) {
      await expect(revokePersonalApiKey(database.db, unknown)).rejects.toMatchObject({
        kind: 'not_found',
      });
    }
  });
});

describe('every command on identities', () => {
  it('raises the identity revision, so that other instances hear of it', async () => {
    const readRevision = async () => (await readRevisions(database.db)).identity;
    let before = await readRevision();
    const expectRaised = async () => {
      const after = await readRevision();
      expect(after).toBeGreaterThan(before);
      before = after;
    };
    const { project } = await write((tx) => createProject(tx, { name: 'p' }));
    await expectRaised();
    const user = await write((tx) => createUser(tx, { email: 'zoe@example.com' }));
    await expectRaised();
    await write((tx) => addMember(tx, user.id, project.id));
    await expectRaised();
    const { id } = await write((tx) =>
      createPersonalApiKey(tx, { userId: user.id, label: 'x', scopes: ['*'], projectIds: null }),
    );
    await expectRaised();
    await revokePersonalApiKey(database.db, id);
    await expectRaised();
  });
});
