import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient } from './http.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

/** Longer than a pool keeps a connection that nobody uses. */
const POOL_SHRINKS_MS = 60_000;

describe('a service that stops', () => {
  let staying: StartedBurgee;

  beforeAll(async () => {
    staying = await startBurgee();
  });

  afterAll(async () => {
    await staying.stop();
  });

  it('has stored every event that it acknowledged, and answers what is under way', async () => {
    const leaving = await startBurgee({ connection: staying.connection });
    const client = createHttpClient(leaving.url);
    const uuids = Array.from({ length: 60 }, () => randomUUID());
    const replies = uuids.map(async (uuid) => {
      const body = { api_key: leaving.projectApiKey, event: 'late', distinct_id: 'p', uuid };
      const reply = await client.send('POST', '/i/v0/e/', { body }).catch(() => null);
      return { uuid, status: reply?.status ?? null };
    });
    const first = await Promise.race(replies);
    expect(first.status).toBe(200);
    const [answers] = await Promise.all([Promise.all(replies), leaving.stop()]);
    client.close();
    const acknowledged = answers.filter(({ status }) => status === 200).map(({ uuid }) => uuid);
    const stored = await staying.db('events').whereIn('uuid', acknowledged).pluck('uuid');
    expect(stored.toSorted()).toEqual(acknowledged.toSorted());
    expect(answers.map(({ status }) => status)).not.toContain(500);
    expect(leaving.errors()).toEqual([]);
  });

  it('takes no connection any more, and leaves the other one on the database alone', async () => {
    const leaving = await startBurgee({ connection: staying.connection });
    await leaving.stop();
    const client = createHttpClient(leaving.url);
    await expect(client.send('GET', '/_liveness')).rejects.toThrow(/ECONNREFUSED/);
    client.close();
    expect((await staying.evaluate()).status).toBe(200);
  });

  it('can be started and stopped many times in one process, and leaves no connection', async () => {
    const connections = async () => {
      const { rows } = await staying.db.raw<{ rows: { count: number }[] }>(
        'SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database()',
      );
      return rows[0]?.count ?? 0;
    };
    await staying.evaluate();
    const before = await connections();
    for (let round = 0; round < 5; round += 1) {
      const leaving = await startBurgee({ connection: staying.connection });
      await leaving.createFlag();
      await leaving.stop();
    }
    // The one that stays may have taken more for a while; its pool lets idle ones go after a time.
    await expect.poll(connections, { timeout: POOL_SHRINKS_MS }).toBeLessThanOrEqual(before);
  }, 120_000);
});
