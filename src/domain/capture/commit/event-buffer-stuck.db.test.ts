import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { aBuffer, insertProject } from '../../../../test/event-buffers.ts';
import { parseCaptureBody } from '../../../../test/parse-capture-body.ts';
import { createStallingProxy } from '../../../../test/stalling-proxy.ts';
import { createDb, type Tx } from '../../database/db.ts';
import { listEvents } from '../../events/events-queries.ts';
import { lockPersons } from '../../persons/write/persons-writes.ts';

const PATIENT = { lockMs: 60_000, statementMs: 60_000, totalMs: 60_000 };

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  projectId = await insertProject(database.db);
});
afterAll(() => database.destroy());

function anEvent(event: string) {
  const body = { api_key: 't', event, distinct_id: 'u', properties: { $set: { a: 1 } } };
  return parseCaptureBody(body, { path: 'event', receivedAt: new Date() }).events;
}

/** The first group of a type, which changes the project's row. */
function aGroup(type: string) {
  const properties = { $group_type: type, $group_key: 'acme', $group_set: { a: 1 } };
  const body = { api_key: 't', event: '$groupidentify', distinct_id: 'u', properties };
  return parseCaptureBody(body, { path: 'event', receivedAt: new Date() }).events;
}

describe('a commit that cannot get on', () => {
  it.each([
    ['a lock that nobody gives up', { ...PATIENT, lockMs: 50 }],
    ['a statement that takes too long', { ...PATIENT, statementMs: 50 }],
    ['everything that takes too long', { ...PATIENT, totalMs: 300 }],
  ])('is refused as unavailable because of %s, and works later', async (name, limits) => {
    const buffer = aBuffer(database.db, { limits });
    await database.db.transaction(async (tx) => {
      await lockPersons(tx, [projectId]);
      await expect(buffer.add(projectId, anEvent(name))).rejects.toMatchObject({
        kind: 'unavailable',
      });
    });
    await buffer.add(projectId, anEvent(name));
    await buffer.close();
    expect(await listEvents(database.db, projectId, { event: name, limit: 5 })).toHaveLength(1);
  });

  describe('because of one project', () => {
    let otherId = 0;

    beforeAll(async () => {
      const [other] = await database
        .db('projects')
        .insert({ name: 'other', api_token: 'other' })
        .returning('id');
      otherId = other?.id ?? 0;
    });

    const unavailable = { status: 'rejected', reason: { kind: 'unavailable' } };

    it.each([
      ['whose persons', (tx: Tx) => lockPersons(tx, [projectId])],
      ['which', (tx: Tx) => tx('projects').where({ id: projectId }).forUpdate()],
    ])(
      'is refused for the project %s somebody has locked, and for no other',
      async (what, lock) => {
        const buffer = aBuffer(database.db, {
          limits: { ...PATIENT, lockMs: 100 },
          flushAfterMs: 60_000,
          flushMaxEvents: 3,
          onGroupTypesAdded: async (id, tx) => {
            await tx.raw('UPDATE projects SET revision = revision + 1 WHERE id = ?', [id]);
            return undefined;
          },
        });
        const name = (event: string) => `${event} ${what}`;
        await database.db.transaction(async (tx) => {
          await lock(tx);
          const ofBlocked = [
            buffer.add(projectId, anEvent(name('blocked'))),
            buffer.add(projectId, aGroup(`type of ${what}`)),
          ];
          const refused = Promise.allSettled(ofBlocked);
          const ofOther = buffer.add(otherId, anEvent(name('not blocked')));
          const behind = buffer.add(otherId, anEvent(name('behind')));
          await ofOther;
          expect(await refused).toMatchObject([unavailable, unavailable]);
          await Promise.all([buffer.close(), behind]);
        });
        for (const event of [name('not blocked'), name('behind')]) {
          expect(await listEvents(database.db, otherId, { event, limit: 5 })).toHaveLength(1);
        }
        const event = name('blocked');
        expect(await listEvents(database.db, projectId, { event, limit: 5 })).toEqual([]);
      },
    );

    it('does not wait for that project again and again, and takes its events later', async () => {
      const lockMs = 5_000;
      let time = 0;
      const buffer = aBuffer(database.db, {
        limits: { ...PATIENT, lockMs },
        flushAfterMs: 0,
        now: () => time,
      });
      await database.db.transaction(async (tx) => {
        await lockPersons(tx, [projectId]);
        await Promise.allSettled([buffer.add(projectId, anEvent('first'))]);
        const startedAt = performance.now();
        const refused = Promise.allSettled([buffer.add(projectId, anEvent('second'))]);
        await buffer.add(otherId, anEvent('meanwhile'));
        expect(await refused).toMatchObject([unavailable]);
        expect(performance.now() - startedAt).toBeLessThan(lockMs);
      });
      await buffer.add(projectId, anEvent('third'));
      time = 60_000;
      await buffer.add(projectId, anEvent('fourth'));
      await buffer.close();
      const stored = await listEvents(database.db, projectId, { after: new Date(0), limit: 50 });
      const names = stored.map(({ event }) => event);
      expect(names).toEqual(expect.arrayContaining(['third', 'fourth']));
      expect(names).not.toContain('second');
    });
  });

  it('is refused when the database does not answer, and so is what waits behind it', async () => {
    const proxy = await createStallingProxy(database.connection);
    const db = createDb(proxy.connection, 2);
    const buffer = aBuffer(db, { limits: { ...PATIENT, totalMs: 500 }, flushMaxEvents: 1 });
    await buffer.add(projectId, anEvent('before'));
    proxy.stall();
    const refused = ['first', 'second', 'third'].map((name) =>
      expect(buffer.add(projectId, anEvent(name))).rejects.toMatchObject({ kind: 'unavailable' }),
    );
    await Promise.all(refused);
    expect(buffer.depth()).toBe(0);
    proxy.resume();
    await buffer.add(projectId, anEvent('after'));
    await buffer.close();
    const stored = await listEvents(database.db, projectId, { after: new Date(0), limit: 50 });
    const names = stored.map(({ event }) => event);
    expect(names).toEqual(expect.arrayContaining(['before', 'after']));
    expect(names).not.toContain('second');
    await db.destroy();
    await proxy.close();
  });
});
