import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestKey, TestProject } from './identities.ts';
import { pick, pickList, pickNumber } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

let burgee: StartedBurgee;
/** A project apart from the first one, with a flag, and keys of both sides. */
let other: TestProject;
let otherFlagId: number;
let mine: TestFlag;
let theirs: TestKey;
let outsider: TestKey;
let both: TestKey;
let limited: TestKey;

beforeAll(async () => {
  burgee = await startBurgee();
  other = await burgee.createProject('The others');
  theirs = await burgee.createKey({ memberOf: [other.id] });
  outsider = await burgee.createKey({ memberOf: [1] });
  both = await burgee.createKey({ memberOf: [1, other.id] });
  limited = await burgee.createKey({ memberOf: [1, other.id], projectIds: [1] });
  mine = await burgee.createFlag({ key: 'shared-name', name: 'mine' });
  const created = await burgee.request('POST', `/api/projects/${other.id}/feature_flags/`, {
    key: theirs.key,
    body: { key: 'shared-name', name: 'theirs', filters: { groups: [{}] } },
  });
  otherFlagId = pickNumber(created.body, 'id');
});

afterAll(async () => {
  await burgee.stop();
});

describe('a project that is another’s', () => {
  it.each([
    ['GET', ''],
    ['POST', ''],
    ['GET', 'activity/'],
    ['GET', 'local_evaluation/'],
    ['GET', '1/'],
    ['PATCH', '1/'],
    ['PUT', '1/'],
    ['DELETE', '1/'],
    ['GET', '1/activity/'],
  ])(
    'is closed to %s feature_flags/%s for no member and for a limited key',
    async (method, end) => {
      const path = `/api/projects/${other.id}/feature_flags/${end}`;
      const body = method === 'GET' || method === 'DELETE' ? {} : { body: { key: 'x' } };
      const stranger = await burgee.request(method, path, { key: outsider.key, ...body });
      expect(stranger.status).toBe(403);
      expect(stranger.body).toEqual({
        type: 'authentication_error',
        code: 'permission_denied',
        detail: "You don't have access to the project.",
        attr: null,
      });
      const restricted = await burgee.request(method, path, { key: limited.key, ...body });
      expect(restricted.status).toBe(403);
      expect(pick(restricted.body, 'detail')).toBe(
        `API key does not have access to the requested project: ID ${other.id}.`,
      );
    },
  );

  it('is closed to the secret key of another project', async () => {
    const path = `/api/projects/${other.id}/feature_flags/local_evaluation/`;
    const reply = await burgee.request('GET', path, { key: burgee.projectSecretKey });
    expect(reply.status).toBe(403);
    const own = await burgee.request('GET', path, { key: other.projectSecretKey });
    expect(pickList(own.body, 'flags').map((flag) => pick(flag, 'team_id'))).toEqual([other.id]);
  });

  it('does not show its flags under the path of a project that the caller may enter', async () => {
    for (const [method, end] of [
      ['GET', ''],
      ['PATCH', ''],
      ['GET', 'activity/'],
    ]) {
      const path = `/api/projects/1/feature_flags/${otherFlagId}/${end}`;
      const body = method === 'PATCH' ? { body: { name: 'stolen' } } : {};
      const reply = await burgee.request(method ?? '', path, { key: both.key, ...body });
      expect(reply.status).toBe(404);
    }
    const list = await burgee.api('GET', '/api/projects/1/feature_flags/');
    expect(pickList(list.body, 'results').map((flag) => pick(flag, 'name'))).toEqual(['mine']);
    const activity = await burgee.api('GET', '/api/projects/1/feature_flags/activity/');
    expect(pickList(activity.body, 'results').map((entry) => pick(entry, 'item_id'))).toEqual([
      String(mine.id),
    ]);
  });

  it('has its own keys of flags, persons, groups and events', async () => {
    const event = { event: '$set', distinct_id: 'same-person', $set: { plan: 'pro' } };
    const body = { api_key: other.projectApiKey, ...event };
    expect((await burgee.request('POST', '/i/v0/e/', { body })).status).toBe(200);
    const properties = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }];
    await burgee.createFlag({ key: 'pro', filters: { groups: [{ properties }] } });
    const asked = await burgee.evaluate({ distinct_id: 'same-person' });
    expect(pick(asked.body, 'flags', 'pro', 'enabled')).toBe(false);
    const named = await burgee.evaluate({ token: other.projectApiKey });
    expect(pick(named.body, 'flags', 'shared-name', 'metadata', 'id')).toBe(otherFlagId);
    expect(pick(named.body, 'flags', 'pro')).toBeUndefined();
  });
});

describe('the project of a request', () => {
  const nameOf = async (key: string, path: string) => {
    const reply = await burgee.request('GET', path, { key });
    const results = pick(reply.body, 'results') === undefined ? 'flags' : 'results';
    return reply.status === 200 ? pick(reply.body, results, 0, 'name') : reply.status;
  };

  it('is the key’s own for @current', async () => {
    expect(await nameOf(theirs.key, '/api/projects/@current/feature_flags/')).toBe('theirs');
    expect(await nameOf(both.key, '/api/projects/@current/feature_flags/?offset=1')).toBe('mine');
    expect(await nameOf(theirs.key, '/flags/definitions')).toBe('theirs');
    expect(await nameOf(other.projectSecretKey, '/flags/definitions')).toBe('theirs');
  });

  it('is chosen by the token, which widens nothing', async () => {
    const path = '/api/projects/1/feature_flags/';
    const token = `?token=${other.projectApiKey}`;
    expect(await nameOf(both.key, `${path}${token}`)).toBe('theirs');
    expect(await nameOf(both.key, `/flags/definitions${token}`)).toBe('theirs');
    for (const key of [outsider.key, limited.key, burgee.projectSecretKey]) {
      expect(await nameOf(key, `/flags/definitions${token}`)).toBe(403);
    }
    for (const key of [outsider.key, limited.key]) {
      expect(await nameOf(key, `${path}${token}`)).toBe(403);
    }
    const headers = { 'x-posthog-project-api-key': other.projectApiKey };
    const options = { key: both.key, headers };
    const byHeader = await burgee.request('GET', '/flags/definitions', options);
    expect(pick(byHeader.body, 'flags', 0, 'name')).toBe('theirs');
  });

  it('is refused with 401 for a token that no project has', async () => {
    const reply = await burgee.api('GET', '/flags/definitions?token=phc_nobody');
    expect(reply.status).toBe(401);
    expect(reply.body).toMatchObject({
      code: 'authentication_failed',
      detail: 'Incorrect authentication credentials.',
    });
  });

  it('is the one of the path for a write, whatever the token says', async () => {
    const path = `/api/projects/1/feature_flags/?token=${other.projectApiKey}`;
    const reply = await burgee.request('POST', path, { key: both.key, body: { key: 'in-path' } });
    expect(reply.status).toBe(201);
    const id = pickNumber(reply.body, 'id');
    const found = await burgee.request('GET', `/api/projects/1/feature_flags/${id}/`, {
      key: both.key,
    });
    expect(found.status).toBe(200);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
