import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import type { UserCaller } from '../common/access.ts';
import { createDb } from '../database/db.ts';
import { createPersonalApiKey, revokePersonalApiKey } from './api-keys-commands.ts';
import { IdentityStore } from './identity-store.ts';
import { addMember, createProject, createUser } from './projects-commands.ts';

let database: DisposableDatabase;
let userId = 0;
let ownId = 0;
let othersId = 0;
let ownToken = '';
let othersToken = '';
let secretKey = '';
let now = new Date('2026-01-01T00:00:00Z');

beforeAll(async () => {
  database = await createDisposableDatabase();
  await database.db.transaction(async (tx) => {
    const own = await createProject(tx, { name: 'own' });
    const others = await createProject(tx, { name: 'others' });
    [ownId, ownToken, secretKey] = [own.project.id, own.project.apiToken, own.secretKey];
    [othersId, othersToken] = [others.project.id, others.project.apiToken];
    userId = (await createUser(tx, { email: 'ann@example.com' })).id;
    await addMember(tx, userId, ownId);
  });
});
afterAll(() => database.destroy());

let identities: IdentityStore;
let lookUps = 0;

/** Lets connections through to the database from now on; returns the port. */
async function openGate(gate: Server, port: number): Promise<number> {
  gate.listen(port, '127.0.0.1');
  await once(gate, 'listening');
  const address = gate.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

beforeAll(() => {
  database.db.on('query', () => {
    lookUps += 1;
  });
});
beforeEach(() => {
  identities = new IdentityStore(database.db, () => now);
  lookUps = 0;
});

async function createKey(projectIds: readonly number[] | null = null) {
  const created = await database.db.transaction((tx) =>
    createPersonalApiKey(tx, { userId, label: 'x', scopes: ['*'], projectIds }),
  );
  lookUps = 0;
  return created;
}

describe('authenticate', () => {
  it('knows the holder of a personal key with their projects', async () => {
    const { key } = await createKey([ownId]);
    expect(await identities.authenticate(key)).toEqual({
      kind: 'user',
      user: {
        id: userId,
        uuid: expect.any(String),
        distinctId: expect.any(String),
        email: 'ann@example.com',
      },
      scopes: ['*'],
      keyProjectIds: [ownId],
      memberProjectIds: [ownId],
    });
  });

  it('knows the project of a secret key', async () => {
    expect(await identities.authenticate(secretKey)).toEqual({
      kind: 'project',
      projectId: ownId,
    });
  });

  it.each(['', 'phx_nobody', 'phs_nobody', 'a\0b', 'x'.repeat(10_000)])(
    'knows nobody who holds %j',
    async (secret) => {
      expect(await identities.authenticate(secret)).toBeNull();
    },
  );

  it('does not take a public key for a secret', async () => {
    expect(await identities.authenticate(ownToken)).toBeNull();
  });

  it('looks a key up once for all who bring it at the same time, and never again', async () => {
    const { key } = await createKey();
    await Promise.all(Array.from({ length: 20 }, () => identities.authenticate(key)));
    await identities.authenticate(key);
    expect(lookUps).toBe(1);
  });

  it('looks an unknown key up once, and again a second later', async () => {
    await Promise.all(Array.from({ length: 20 }, () => identities.authenticate('phx_nobody')));
    await identities.authenticate('phx_nobody');
    expect(lookUps).toBe(1);
    now = new Date(now.getTime() + 1_001);
    await identities.authenticate('phx_nobody');
    expect(lookUps).toBe(2);
  });

  it('stops to accept a revoked key once it is told to forget', async () => {
    const { id, key } = await createKey();
    expect(await identities.authenticate(key)).not.toBeNull();
    await revokePersonalApiKey(database.db, id);
    identities.forget();
    expect(await identities.authenticate(key)).toBeNull();
  });

  it('does not remember a look-up that a revocation overtook', async () => {
    const { id, key } = await createKey();
    const lookUp = identities.authenticate(key);
    identities.forget();
    await lookUp;
    await revokePersonalApiKey(database.db, id);
    expect(await identities.authenticate(key)).toBeNull();
  });

  it('tells an outage as unavailable, and knows the key when it is over', async () => {
    const { key } = await createKey();
    const { host, port } = database.connection;
    const gate = createServer((near) => {
      const far = connect(`${host}/.s.PGSQL.${port}`);
      near.on('error', () => {}).pipe(far);
      far.on('error', () => {}).pipe(near);
    });
    const gatePort = await openGate(gate, 0);
    gate.close();
    await once(gate, 'close');
    const db = createDb({ ...database.connection, host: '127.0.0.1', port: gatePort });
    const store = new IdentityStore(db, () => now);
    await expect(store.authenticate(key)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(
      store.enterProject({ kind: 'project', projectId: ownId }, { projectId: null, token: null }),
    ).rejects.toMatchObject({ kind: 'unavailable' });
    await openGate(gate, gatePort);
    expect(await store.authenticate(key)).toMatchObject({ kind: 'user' });
    await db.destroy();
    gate.close();
  });
});

describe('enterProject', () => {
  const nowhere = { projectId: null, token: null };

  async function caller(projectIds: readonly number[] | null = null): Promise<UserCaller> {
    const found = await identities.authenticate((await createKey(projectIds)).key);
    if (found?.kind !== 'user') throw new Error('The key is not known.');
    return found;
  }

  it.each([
    ['by its id', () => ({ projectId: String(ownId), token: null })],
    ['as @current', () => ({ projectId: '@current', token: null })],
    ['without naming it', () => nowhere],
    ['by its token', () => ({ projectId: null, token: ownToken })],
    ['by its token, which wins over the path', () => ({ projectId: '999', token: ownToken })],
  ])('lets a member in %s', async (_what, target) => {
    const user = await caller();
    expect(await identities.enterProject(user, target())).toEqual({
      projectId: ownId,
      caller: user,
    });
  });

  it.each(['0', '01', '-1', 'abc', '99999999999', '2147483647', '1 ', ''])(
    'knows no project %j',
    async (projectId) => {
      const entering = identities.enterProject(await caller(), { projectId, token: null });
      await expect(entering).rejects.toMatchObject({
        kind: 'not_found',
        detail: 'Project not found.',
      });
    },
  );

  it.each([
    ['id', () => ({ projectId: String(othersId), token: null })],
    ['token', () => ({ projectId: String(ownId), token: othersToken })],
  ])('keeps a stranger out of a project named by its %s', async (_what, target) => {
    const entering = identities.enterProject(await caller(), target());
    await expect(entering).rejects.toMatchObject({
      kind: 'permission_denied',
      detail: "You don't have access to the project.",
    });
  });

  it('keeps a key out of projects that it is not for, although its user is a member', async () => {
    const user = { ...(await caller([othersId])), memberProjectIds: [ownId, othersId] };
    const own = identities.enterProject(user, { projectId: String(ownId), token: null });
    await expect(own).rejects.toMatchObject({
      kind: 'permission_denied',
      detail: `API key does not have access to the requested project: ID ${ownId}.`,
    });
    expect(await identities.enterProject(user, nowhere)).toMatchObject({ projectId: othersId });
  });

  it('refuses an unknown token', async () => {
    const entering = identities.enterProject(await caller(), { projectId: null, token: 'phc_no' });
    await expect(entering).rejects.toMatchObject({ kind: 'authentication_failed' });
  });

  it('lets a secret key into its own project and no other', async () => {
    const project = { kind: 'project', projectId: ownId } as const;
    expect(await identities.enterProject(project, nowhere)).toMatchObject({ projectId: ownId });
    const other = identities.enterProject(project, { projectId: null, token: othersToken });
    await expect(other).rejects.toMatchObject({ kind: 'permission_denied' });
  });

  it('has no project for a user who is a member of none', async () => {
    const user = { ...(await caller()), memberProjectIds: [] };
    await expect(identities.enterProject(user, nowhere)).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  it('knows a new project once it is told to forget', async () => {
    const user = await caller();
    await identities.enterProject(user, nowhere);
    const { project } = await database.db.transaction((tx) => createProject(tx, { name: 'new' }));
    identities.forget();
    const member = { ...user, memberProjectIds: [...user.memberProjectIds, project.id] };
    const target = { projectId: String(project.id), token: null };
    expect(await identities.enterProject(member, target)).toMatchObject({ projectId: project.id });
  });

  it('looks the projects up once for all who ask at the same time', async () => {
    const user = await caller();
    lookUps = 0;
    await Promise.all(Array.from({ length: 20 }, () => identities.enterProject(user, nowhere)));
    expect(lookUps).toBe(1);
  });
});
