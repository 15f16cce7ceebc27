import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDisposableDatabase, type DisposableDatabase } from '../test/disposable-database.ts';
import { type BurgeeProcess, endBurgeeProcesses, startBurgeeProcess } from './burgee-process.ts';
import { createHttpClient, type HttpClient } from './http.ts';
import { pick, pickNumber } from './read.ts';
import {
  PERSONAL_API_KEY,
  PROJECT_API_KEY,
  PROJECT_SECRET_KEY,
  type StartedBurgee,
  startBurgee,
  type TestFlag,
} from './start-burgee.ts';

const START_TIMEOUT_MS = 90_000;
const FLAGS = '/api/projects/1/feature_flags/';
const WITHIN_A_SECOND = { timeout: 1_000, interval: 10 };
const rollout = (percentage: number) => ({ groups: [{ rollout_percentage: percentage }] });

describe('two processes on one database', () => {
  let database: DisposableDatabase;
  let first: Member;
  let second: Member;
  let flagPath: string;

  interface Member {
    readonly process: BurgeeProcess;
    readonly client: HttpClient;
  }

  async function start(): Promise<Member> {
    const { host, port, user, password, database: name } = database.connection;
    const [user_, password_] = [user, password].map(encodeURIComponent);
    const process = startBurgeeProcess({
      PORT: '0',
      DATABASE_URL: `postgres://${user_}:${password_}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      BURGEE_PROJECT_API_KEY: PROJECT_API_KEY,
      BURGEE_PERSONAL_API_KEY: PERSONAL_API_KEY,
      BURGEE_PROJECT_SECRET_KEY: PROJECT_SECRET_KEY,
    });
    return { process, client: createHttpClient(await process.ready) };
  }

  beforeAll(async () => {
    database = await createDisposableDatabase();
    first = await start();
    second = await start();
    const created = await write('POST', FLAGS, { key: 'shared', filters: rollout(0) });
    flagPath = `${FLAGS}${pickNumber(created.body, 'id')}/`;
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    for (const member of [first, second]) member.client.close();
    await endBurgeeProcesses();
    await database.destroy();
  }, START_TIMEOUT_MS);

  const write = (method: string, path: string, body: object, member = first) =>
    member.client.send(method, path, { key: PERSONAL_API_KEY, body });

  async function values(member: Member): Promise<Record<string, unknown>> {
    const body = { token: PROJECT_API_KEY, distinct_id: 'p' };
    const reply = await member.client.send('POST', '/flags', { query: { v: '1' }, body });
    expect(reply.status).toBe(200);
    return Object(pick(reply.body, 'featureFlags'));
  }

  it('serve a change that either of them made', async () => {
    for (const [percentage, writer] of [
      [100, first],
      [0, second],
      [100, second],
    ] as const) {
      await write('PATCH', flagPath, { filters: rollout(percentage) }, writer);
      for (const reader of [first, second]) {
        const value = async () => (await values(reader)).shared;
        await expect.poll(value, WITHIN_A_SECOND).toBe(percentage === 100);
      }
    }
  });

  it(
    'one of them killed, the other one goes on, and the killed one starts with all of it',
    async () => {
      second.process.kill('SIGKILL');
      expect(await second.process.ended).toBe('SIGKILL');
      second.client.close();
      await write('PATCH', flagPath, { filters: rollout(0) });
      await write('POST', FLAGS, { key: 'meanwhile', filters: rollout(100) });
      const event = {
        api_key: PROJECT_API_KEY,
        event: '$groupidentify',
        distinct_id: 'p',
        properties: { $group_type: 'company', $group_key: 'acme', $group_set: { plan: 'pro' } },
      };
      expect((await first.client.send('POST', '/i/v0/e/', { body: event })).status).toBe(200);
      expect(await values(first)).toEqual({ shared: false, meanwhile: true });
      second = await start();
      // The very first answer has to be right.
      expect(await values(second)).toEqual({ shared: false, meanwhile: true });
      const read = async ({ client }: Member) =>
        client.send('GET', '/flags/definitions', { key: PROJECT_SECRET_KEY });
      const [one, other] = [await read(first), await read(second)];
      expect(other.text).toBe(one.text);
      expect(other.headers.etag).toBe(one.headers.etag);
      expect(pick(other.body, 'group_type_mapping')).toEqual({ 0: 'company' });
    },
    START_TIMEOUT_MS,
  );

  it('hear of each other again after the start', async () => {
    await write('PATCH', flagPath, { filters: rollout(100) }, second);
    await expect.poll(async () => (await values(first)).shared, WITHIN_A_SECOND).toBe(true);
    await write('PATCH', flagPath, { filters: rollout(0) }, first);
    await expect.poll(async () => (await values(second)).shared, WITHIN_A_SECOND).toBe(false);
  });

  it('refuse secret payloads, because a key of one would not be a key of the other', async () => {
    const filters = { ...rollout(100), payloads: { true: '"a secret"' } };
    const remote = { is_remote_configuration: true, filters };
    const secret = { ...remote, has_encrypted_payloads: true };
    const refused = await write('POST', FLAGS, { key: 'secret', ...secret });
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        type: 'validation_error',
        code: 'invalid_input',
        detail: 'Encrypted payloads need an encryption key: set BURGEE_ENCRYPTION_KEYS.',
        attr: 'has_encrypted_payloads',
      },
    ]);
    const created = await write('POST', FLAGS, { key: 'remote', ...remote });
    const path = `${FLAGS}${pickNumber(created.body, 'id')}/`;
    const closing = await write('PATCH', path, { has_encrypted_payloads: true });
    expect(closing.status).toBe(400);
    const stored = await database.db('feature_flags').where({ key: 'remote' }).first();
    expect(stored).toMatchObject({ has_encrypted_payloads: false, filters });
  });

  it('show a marker for a secret whose key is gone, keep it, and never its ciphertext', async () => {
    const ciphertext = 'burgee-enc-1:00000000:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    const filters = { ...rollout(100), payloads: { true: ciphertext } };
    const row = { has_encrypted_payloads: true, filters: JSON.stringify(filters) };
    await database.db('feature_flags').where({ key: 'remote' }).update(row);
    const key = PERSONAL_API_KEY;
    const list = await second.client.send('GET', FLAGS, { key });
    expect(list.status).toBe(200);
    expect(list.text).toContain('(encrypted)');
    const id = (await database.db('feature_flags').where({ key: 'remote' }).first())?.id;
    const read = await second.client.send('GET', `${FLAGS}${id}/remote_config/`, { key });
    expect([read.status, pick(read.body, 'type')]).toEqual([500, 'server_error']);
    const changed = await write('PATCH', `${FLAGS}${id}/`, { name: 'still secret' });
    expect(changed.status).toBe(200);
    for (const { text } of [list, read, changed]) expect(text).not.toContain('burgee-enc');
    const kept = await database
      .db('feature_flags')
      .where({ id: id ?? 0 })
      .first();
    expect(kept?.filters).toEqual(filters);
  });

  it(
    'are both killed in the middle of writes, and what was acknowledged is there',
    async () => {
      let acknowledged = 0;
      const writing = Array.from({ length: 200 }, async (_, index) => {
        const body = { key: `burst-${index}`, filters: rollout(100) };
        const member = index % 2 === 0 ? first : second;
        const reply = await write('POST', FLAGS, body, member).catch(() => null);
        if (reply?.status !== 201) return null;
        acknowledged += 1;
        if (acknowledged === 20) for (const { process } of [first, second]) process.kill('SIGKILL');
        return body.key;
      });
      const known = (await Promise.all(writing)).filter((key) => key !== null);
      await Promise.all([first.process.ended, second.process.ended]);
      for (const member of [first, second]) member.client.close();
      [first, second] = await Promise.all([start(), start()]);
      for (const member of [first, second]) {
        const served = await values(member);
        expect(known.length).toBeGreaterThanOrEqual(20);
        expect(known.filter((key) => served[key] !== true)).toEqual([]);
        const versions = await member.client.send('GET', FLAGS, { key: PERSONAL_API_KEY });
        expect(versions.status).toBe(200);
      }
      expect(await values(first)).toEqual(await values(second));
    },
    START_TIMEOUT_MS,
  );
});

async function isOn(burgee: StartedBurgee, flag: TestFlag): Promise<unknown> {
  return pick((await burgee.evaluate()).body, 'flags', flag.key, 'enabled');
}

describe('an instance whose listening connection is cut', () => {
  let writer: StartedBurgee;
  let reader: StartedBurgee;

  // Polls are rare here, so that only the new connection can bring the change.
  beforeAll(async () => {
    writer = await startBurgee();
    reader = await startBurgee({ connection: writer.connection });
  });

  afterAll(async () => {
    await reader.stop();
    await writer.stop();
  });

  async function cutListeners(): Promise<number> {
    const { rows } = await writer.db.raw<{ rows: object[] }>(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
    );
    return rows.length;
  }

  it('hears of what was changed before it listens again, and of later changes', async () => {
    const flag = await writer.createFlag({ filters: rollout(0) });
    for (let round = 0; round < 4; round += 1) {
      const isFull = round % 2 === 0;
      await expect.poll(cutListeners, { timeout: 5_000, interval: 20 }).toBe(2);
      await writer.api('PATCH', flag.path, { body: { filters: rollout(isFull ? 100 : 0) } });
      expect(await isOn(writer, flag)).toBe(isFull);
      await expect.poll(() => isOn(reader, flag), { timeout: 5_000, interval: 20 }).toBe(isFull);
    }
    const filters = rollout(100);
    await writer.api('PATCH', flag.path, { body: { filters } });
    await expect.poll(() => isOn(reader, flag), { timeout: 5_000, interval: 20 }).toBe(true);
  }, 60_000);

  it('refuses a key that was revoked while it was not listening', async () => {
    const { id, key } = await writer.createKey();
    const ask = async () => (await reader.request('GET', '/flags/definitions', { key })).status;
    expect(await ask()).toBe(200);
    await cutListeners();
    await writer.revokeKey(id);
    await expect.poll(ask, { timeout: 5_000, interval: 20 }).toBe(401);
  });

  it('says so as a warning, and nothing is at error level', () => {
    for (const burgee of [writer, reader]) {
      const messages = burgee.log().map(({ message }) => message);
      expect(messages).toContain(
        'The connection that listens for changes was lost; connecting again.',
      );
      expect(burgee.errors()).toEqual([]);
    }
  });
});

describe('an instance that no notification reaches', () => {
  let burgee: StartedBurgee;

  beforeAll(async () => {
    burgee = await startBurgee({ pollEveryMs: 150 });
  });

  afterAll(async () => {
    expect(burgee.errors()).toEqual([]);
    await burgee.stop();
  });

  it('finds the change by comparing revisions', async () => {
    const flag = await burgee.createFlag({ filters: rollout(0) });
    for (const percentage of [100, 0, 100]) {
      await burgee.db.transaction(async (tx) => {
        const filters = JSON.stringify(rollout(percentage));
        await tx('feature_flags').where({ id: flag.id }).update({ filters });
        await tx('projects')
          .where({ id: 1 })
          .update({ revision: tx.raw('revision + 1') });
      });
      await expect
        .poll(() => isOn(burgee, flag), { timeout: 3_000, interval: 20 })
        .toBe(percentage === 100);
    }
  });

  it('serves what it had while the revision stays', async () => {
    const flag = await burgee.createFlag({ filters: rollout(0) });
    const filters = JSON.stringify(rollout(100));
    await burgee.db('feature_flags').where({ id: flag.id }).update({ filters });
    expect(await isOn(burgee, flag)).toBe(false);
  });

  it('forgets a key that was revoked behind its back', async () => {
    const { id, key } = await burgee.createKey();
    const ask = async () => (await burgee.request('GET', '/flags/definitions', { key })).status;
    expect(await ask()).toBe(200);
    await burgee.db('personal_api_keys').where({ id }).update({ revoked_at: new Date() });
    await burgee.db('identity_revision').update({ revision: burgee.db.raw('revision + 1') });
    await expect.poll(ask, { timeout: 3_000, interval: 20 }).toBe(401);
  });
});
