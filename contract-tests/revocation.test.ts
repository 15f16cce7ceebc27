import { afterAll, beforeAll, expect, it } from 'vitest';
import { pickNumber, pickText } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const KEYS = '/api/personal_api_keys/';
/** Sooner than the poll, so it is the notification that brings it; `npm run bench` measures how soon. */
const BY_NOTIFICATION = { timeout: 4_000, interval: 10 };

let first: StartedBurgee;
let second: StartedBurgee;

beforeAll(async () => {
  first = await startBurgee();
  second = await startBurgee({ connection: first.connection });
});

afterAll(async () => {
  await second.stop();
  await first.stop();
});

async function statusOf(key: string, burgee: StartedBurgee): Promise<number> {
  return (await burgee.request('GET', '/api/users/@me/', { key })).status;
}

it('refuses a key at every instance once it is revoked at one of them', async () => {
  for (const [revoker, reader] of [
    [first, second],
    [second, first],
  ] as const) {
    const made = await revoker.api('POST', KEYS, { body: { label: 'shared', scopes: ['*'] } });
    const key = pickText(made.body, 'value');
    await expect.poll(() => statusOf(key, reader), BY_NOTIFICATION).toBe(200);
    const revoked = await revoker.api('DELETE', `${KEYS}${pickText(made.body, 'id')}/`);
    expect([revoked.status, await statusOf(key, revoker)]).toEqual([204, 401]);
    await expect.poll(() => statusOf(key, reader), BY_NOTIFICATION).toBe(401);
  }
});

it('lets a new member in at every instance', async () => {
  const made = await first.api('POST', '/api/projects/', { body: { name: 'Shared' } });
  const path = `/api/projects/${pickNumber(made.body, 'id')}/`;
  const read = async () => (await second.api('GET', path)).status;
  await expect.poll(read, BY_NOTIFICATION).toBe(200);
  const token = pickText(made.body, 'api_token');
  expect((await second.evaluate({ token })).status).toBe(200);
});

it('lets a member that was added in, and one that was removed no longer, at every instance', async () => {
  const project = await first.createProject('Joined later');
  const { key, email } = await first.createKey();
  const path = `/api/projects/${project.id}/feature_flags/`;
  const read = async () => {
    const replies = await Promise.all(
      [first, second].map((each) => each.request('GET', path, { key })),
    );
    return replies.map(({ status }) => status);
  };
  expect(await read()).toEqual([403, 403]);
  await first.addMember(project.id, email);
  await expect.poll(read, BY_NOTIFICATION).toEqual([200, 200]);
  await first.removeMember(project.id, email);
  await expect.poll(read, BY_NOTIFICATION).toEqual([403, 403]);
});

it('hears at every instance that a secret key was replaced and deleted', async () => {
  const poll = async (key: string) =>
    (await second.request('GET', '/flags/definitions', { key })).status;
  const send = (action: string) => first.api('PATCH', `/api/projects/1/${action}/`);
  const rotated = await send('rotate_secret_token');
  const key = pickText(rotated.body, 'secret_api_token');
  await expect.poll(() => poll(key), BY_NOTIFICATION).toBe(200);
  expect(await poll(first.projectSecretKey)).toBe(200);
  await send('delete_secret_token_backup');
  await expect.poll(() => poll(first.projectSecretKey), BY_NOTIFICATION).toBe(401);
  expect(await poll(key)).toBe(200);
});
