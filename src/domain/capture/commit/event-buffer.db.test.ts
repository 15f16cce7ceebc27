import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { aBuffer, events, insertProject } from '../../../../test/event-buffers.ts';
import { findStoredProperties } from '../../../../test/stored-properties.ts';
import { listEvents } from '../../events/events-queries.ts';
import { getPersonByDistinctId } from '../../persons/persons-queries.ts';
import { lockPersons } from '../../persons/write/persons-writes.ts';
import type { CaptureEvent } from '../parse/capture-event.ts';

/** Long enough that no commit starts by age while a test runs. */
const NEVER_MS = 600_000;

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());
beforeEach(async () => {
  projectId = await insertProject(database.db);
});

function poisoned(): CaptureEvent[] {
  return events({}).map((event) => ({ ...event, properties: { bad: 'a\0b' } }));
}

/** Keeps every commit of the project waiting until `use` is through. */
async function whileBlocked(use: () => Promise<void>): Promise<void> {
  await database.db.transaction(async (tx) => {
    await lockPersons(tx, [projectId]);
    await use();
  });
}

describe('a commit', () => {
  it('holds the events, their persons and their groups', async () => {
    const groupTypesAdded: number[] = [];
    const buffer = aBuffer(database.db, {
      onGroupTypesAdded: async (id, tx) => {
        const types = 'SELECT 1 FROM group_types WHERE project_id = ?';
        expect((await tx.raw(types, [id])).rows).toHaveLength(1);
        groupTypesAdded.push(id);
        return undefined;
      },
    });
    const sent = events(
      { event: 'buy', properties: { $set: { plan: 'pro' }, $groups: { company: 7 } } },
      {
        event: '$groupidentify',
        distinct_id: '$company_7',
        properties: { $group_type: 'company', $group_key: 7, $group_set: { tier: 'gold' } },
      },
    );
    await buffer.add(projectId, sent);
    expect(buffer.depth()).toBe(0);
    const person = await getPersonByDistinctId(database.db, projectId, 'u');
    const stored = await listEvents(database.db, projectId, { distinctId: 'u', limit: 10 });
    expect(stored).toEqual([
      {
        uuid: sent[0]?.uuid,
        event: 'buy',
        distinctId: 'u',
        personId: person?.id,
        properties: { $set: { plan: 'pro' }, $groups: { company: 7 }, $group_0: '7' },
        timestamp: sent[0]?.timestamp,
        receivedAt: sent[0]?.receivedAt,
      },
    ]);
    const found = await findStoredProperties(database.db, projectId, {
      distinctId: '$company_7',
      groups: [{ index: 0, key: '7' }],
    });
    expect(found).toEqual({ person: null, groups: new Map([[0, { tier: 'gold' }]]) });
    expect(groupTypesAdded).toEqual([projectId]);
  });

  it('stores every text that a client can send', async () => {
    const strange = '"\\ {},NULL\n\t\r\u0001 😀 \0 \ud800';
    const sent = events(
      { event: strange, distinct_id: strange, properties: { [strange]: strange } },
      { event: 'NULL', distinct_id: 'NULL', properties: {} },
      { event: ' ', distinct_id: '{}', properties: { $groups: { [strange]: strange } } },
    );
    await aBuffer(database.db).add(projectId, sent);
    const stored = await listEvents(database.db, projectId, { distinctId: strange, limit: 5 });
    const clean = strange.replace('\0', '\ufffd').replace('\ud800', '\ufffd');
    expect(stored).toMatchObject([
      { event: clean, distinctId: clean, properties: { [clean]: clean } },
    ]);
    const grouped = await listEvents(database.db, projectId, { event: ' ', limit: 5 });
    expect(grouped).toMatchObject([{ distinctId: '{}', properties: { $group_0: clean } }]);
    expect(await listEvents(database.db, projectId, { event: 'NULL', limit: 5 })).toHaveLength(1);
  });

  it('stores times of every year that capture accepts', async () => {
    const times = ['0000-06-01T00:00:00Z', '0099-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z'];
    await aBuffer(database.db).add(projectId, events(...times.map((timestamp) => ({ timestamp }))));
    const stored = await listEvents(database.db, projectId, { limit: 5 });
    expect(stored.map(({ timestamp }) => timestamp)).toEqual(
      times.map((time) => new Date(time)).toReversed(),
    );
  });

  it('leaves out events that decline the person they are about, and strips the others', async () => {
    const off = { $process_person_profile: false };
    await aBuffer(database.db).add(
      projectId,
      events(
        { event: '$identify', properties: off },
        { event: 'view', properties: { ...off, $set: { a: 1 }, $groups: { company: 'a' } } },
      ),
    );
    expect(await listEvents(database.db, projectId, { limit: 5 })).toMatchObject([
      { event: 'view', personId: null, properties: { ...off, $groups: { company: 'a' } } },
    ]);
    expect(await getPersonByDistinctId(database.db, projectId, 'u')).toBeNull();
  });

  it('has nothing to wait for when no event is left', async () => {
    const buffer = aBuffer(database.db, { flushAfterMs: NEVER_MS });
    await buffer.add(projectId, []);
    await buffer.add(
      projectId,
      events({ event: '$identify', properties: { $process_person_profile: false } }),
    );
    expect(buffer.depth()).toBe(0);
  });

  it('starts at once when enough events wait, and never splits a request', async () => {
    const buffer = aBuffer(database.db, { flushAfterMs: NEVER_MS, flushMaxEvents: 2 });
    const first = buffer.add(projectId, events({}));
    expect(buffer.depth()).toBe(1);
    await Promise.all([first, buffer.add(projectId, events({}, {}, {}))]);
    expect(await listEvents(database.db, projectId, { limit: 10 })).toHaveLength(4);
  });
});

it('begins the next commit once everybody who was answered is back, and not before', async () => {
  let time = 0;
  const buffer = aBuffer(database.db, { flushAfterMs: 60_000, now: () => time });
  const first = buffer.add(projectId, events({}));
  time = 60_000;
  await Promise.all([first, buffer.add(projectId, events({}))]);
  const early = buffer.add(projectId, events({}));
  expect(buffer.depth()).toBe(1);
  await Promise.all([early, buffer.add(projectId, events({}))]);
  expect(buffer.depth()).toBe(0);
  await buffer.close();
});

describe('a request that cannot be stored', () => {
  it('is refused alone, wherever it stands among others', async () => {
    for (const guilty of [0, 3, 6]) {
      const buffer = aBuffer(database.db, { flushAfterMs: NEVER_MS, flushMaxEvents: 7 });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 7 }, (_, index) =>
          buffer.add(
            projectId,
            index === guilty ? poisoned() : events({ event: `from-${guilty}` }),
          ),
        ),
      );
      expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(
        Array.from({ length: 7 }, (_, index) => index === guilty),
      );
      expect(outcomes[guilty]).toMatchObject({
        reason: {
          name: 'Refusal',
          kind: 'malformed',
          message: 'invalid event could not be processed',
        },
      });
      const stored = await listEvents(database.db, projectId, {
        event: `from-${guilty}`,
        limit: 10,
      });
      expect(stored).toHaveLength(6);
      expect(buffer.depth()).toBe(0);
    }
  });

  it('of a project that does not exist is refused', async () => {
    await expect(aBuffer(database.db).add(2_000_000_000, events({}))).rejects.toThrow(
      'invalid event could not be processed',
    );
  });

  it('leaves nothing behind when what follows in its commit fails', async () => {
    const buffer = aBuffer(database.db, {
      onGroupTypesAdded: () => Promise.reject(new Error('the hook failed')),
    });
    const sent = events({ properties: { $groups: { company: 'a' }, $set: { a: 1 } } });
    await expect(buffer.add(projectId, sent)).rejects.toThrow('the hook failed');
    expect(await listEvents(database.db, projectId, { limit: 10 })).toEqual([]);
    expect(await getPersonByDistinctId(database.db, projectId, 'u')).toBeNull();
  });
});

describe('a full or closed buffer', () => {
  it('lets no request in until there is room again', async () => {
    const buffer = aBuffer(database.db, { bufferMaxEvents: 3 });
    const waiting: Promise<void>[] = [];
    await whileBlocked(async () => {
      waiting.push(buffer.add(projectId, events({})), buffer.add(projectId, events({}, {})));
      expect(buffer.depth()).toBe(3);
      await expect(buffer.add(projectId, events({}))).rejects.toMatchObject({
        kind: 'unavailable',
        detail: 'The event buffer is full. Please try again shortly.',
      });
    });
    await Promise.all(waiting);
    await buffer.add(projectId, events({}));
    expect(await listEvents(database.db, projectId, { limit: 10 })).toHaveLength(4);
  });

  it('commits what it has when it closes, and refuses what comes later', async () => {
    const buffer = aBuffer(database.db, { flushAfterMs: NEVER_MS, flushMaxEvents: 3 });
    const added = [events({}, {}), events({}), events({})].map((sent) =>
      buffer.add(projectId, sent),
    );
    await Promise.all([buffer.close(), buffer.close()]);
    expect(buffer.depth()).toBe(0);
    await Promise.all(added);
    expect(await listEvents(database.db, projectId, { limit: 10 })).toHaveLength(4);
    await expect(buffer.add(projectId, events({}))).rejects.toMatchObject({ kind: 'unavailable' });
    await aBuffer(database.db).close();
  });
});

it('tries a commit that lost a race again, but not for ever', async () => {
  const warnings: string[] = [];
  let losses = 0;
  let attempts = 0;
  const buffer = aBuffer(database.db, {
    log: { warn: (_fields, message) => warnings.push(message), error: () => {} },
    onGroupTypesAdded: async (_id, tx) => {
      attempts += 1;
      if (attempts > losses) return undefined;
      await tx.raw("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$");
      return undefined;
    },
  });
  const sent = events({ properties: { $groups: { company: 'a' } } });
  losses = 3;
  await expect(buffer.add(projectId, sent)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(attempts).toBe(3);
  losses = 4;
  await buffer.add(projectId, sent);
  expect(attempts).toBe(5);
  expect(warnings).toHaveLength(3);
  expect(await listEvents(database.db, projectId, { limit: 10 })).toHaveLength(1);
});
