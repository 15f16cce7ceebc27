import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, pickNumber } from './read.ts';
import { type StartedBurgee, startBurgee, type TestFlag } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

const patch = (flag: TestFlag, body: object) => burgee.api('PATCH', flag.path, { body });

describe('an earlier version of a flag', () => {
  const versionOf = (flag: TestFlag, version: number | string) =>
    burgee.api('GET', `${flag.path}versions/${version}/`);

  it('is the flag as it was, with who made it so', async () => {
    const { key, email } = await burgee.createKey({ scopes: ['feature_flag:write'] });
    const flag = await burgee.createFlag({ name: 'one', tags: ['a'], evaluation_tags: ['web'] });
    const seen = [flag.body];
    const changes = [
      { name: 'two', rollback_conditions: { a: [1] } },
      { tags: [], filters: { groups: [], payloads: { true: '1' } } },
      { deleted: true, evaluation_runtime: 'server', rollback_conditions: null },
      { deleted: false, name: 'five', active: false, evaluation_tags: [] },
    ];
    for (const [at, body] of changes.entries()) {
      const send = at === 1 ? { key, body } : { body };
      seen.push((await burgee.api('PATCH', flag.path, send)).body);
    }
    for (const [index, body] of seen.entries()) {
      const reply = await versionOf(flag, index + 1);
      expect(reply.status, reply.text).toBe(200);
      const modifier = pick(body, 'last_modified_by', 'id');
      expect(reply.body).toEqual({
        ...Object.assign({}, body),
        can_edit: true,
        user_access_level: 'editor',
        // When the entry was written, which is a moment from when the flag was.
        updated_at: pick(reply.body, 'version_timestamp'),
        is_historical: index < 4,
        version_timestamp: expect.any(String),
        modified_by: modifier,
      });
    }
    expect(pick((await versionOf(flag, 3)).body, 'last_modified_by', 'email')).toBe(email);
  });

  it('can be read without a log only when it is the one that is stored', async () => {
    const flag = await burgee.createFlag();
    await patch(flag, { name: 'x' });
    await patch(flag, { name: 'y' });
    const log = () => burgee.db('activity_log').where({ item_id: String(flag.id) });
    const [oldest] = await log().orderBy('sequence').limit(1);
    await log()
      .where({ id: oldest?.id ?? '' })
      .delete();
    const lost = await versionOf(flag, 1);
    expect(lost.status).toBe(422);
    expect(lost.body).toEqual({
      type: 'invalid_request',
      code: 'unprocessable_entity',
      detail: 'Activity log is incomplete. Cannot reconstruct version 1.',
      attr: null,
    });
    expect(pick((await versionOf(flag, 2)).body, 'name')).toBe('x');
    await log().delete();
    expect((await versionOf(flag, 2)).status).toBe(422);
    const current = await versionOf(flag, 3);
    expect(current.body).toMatchObject({ name: 'y', is_historical: false, version: 3 });
  });

  it('does not exist after the current one', async () => {
    const flag = await burgee.createFlag();
    await patch(flag, {});
    const reply = await versionOf(flag, 9);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({
      type: 'invalid_request',
      code: 'not_found',
      detail: 'Version 9 not found (current version is 2)',
      attr: null,
    });
    for (const version of ['0', '-1', 'x', '99999999999']) {
      expect((await versionOf(flag, version)).status).toBe(404);
    }
    expect((await burgee.api('GET', `${FLAGS}999999/versions/1/`)).status).toBe(404);
  });

  it('is not told of a flag whose payloads are or were secret', async () => {
    const filters = { groups: [{ rollout_percentage: 100 }], payloads: { true: '"open"' } };
    const flag = await burgee.createFlag({ is_remote_configuration: true, filters });
    await patch(flag, { has_encrypted_payloads: true, filters: { payloads: { true: '"shut"' } } });
    const expected = {
      type: 'validation_error',
      code: 'invalid_input',
      detail: 'Version history is not available for flags with encrypted payloads.',
      attr: null,
    };
    for (const version of [1, 2]) {
      const reply = await versionOf(flag, version);
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual(expected);
    }
    await patch(flag, { has_encrypted_payloads: false, filters: { payloads: { true: '"new"' } } });
    for (const version of [1, 2]) {
      expect((await versionOf(flag, version)).body).toEqual(expected);
    }
    expect(pickNumber((await versionOf(flag, 3)).body, 'version')).toBe(3);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
