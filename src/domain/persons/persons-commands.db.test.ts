import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { storeEvents } from '../../../test/store-events.ts';
import { addMembers } from '../cohorts/members/cohort-members-writes.ts';
import type { JsonObject } from '../common/json.ts';
import type { Tx } from '../database/db.ts';
import { ensurePartitions } from '../events/event-partitions.ts';
import { readFlagUsage } from '../usage/flags/flag-usage-queries.ts';
import { FLAG_CALLED } from '../usage/flags/flag-use.ts';
import { deletePerson } from './persons-commands.ts';
import { getPersonByDistinctId } from './persons-queries.ts';
import { lockPersons } from './write/persons-writes.ts';

const LONG_AGO = new Date('2025-01-01T12:00:00Z');

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  await ensurePartitions(database.db, new Date(), 1);
});
afterAll(() => database.destroy());

beforeEach(async () => {
  const row = { name: 'p', api_token: `phc_${randomUUID()}` };
  const [project] = await database.db('projects').insert(row).returning('id');
  projectId = project?.id ?? 0;
});

async function write(tx: Tx, distinctId: string, event = 'seen', properties: JsonObject = {}) {
  const now = new Date();
  const uuid = randomUUID();
  const captured = { uuid, event, distinctId, properties, timestamp: now, receivedAt: now };
  await storeEvents(tx, projectId, [captured]);
}

const find = (distinctId: string) => getPersonByDistinctId(database.db, projectId, distinctId);

async function create(distinctId: string): Promise<string> {
  await database.db.transaction((tx) => write(tx, distinctId));
  return (await find(distinctId))?.uuid ?? '';
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);

const readUsage = () =>
  readFlagUsage(database.db, {
    projectId,
    flagKeys: ['banner'],
    events: [FLAG_CALLED],
    firstDay: '2025-01-01',
  });

const countEvents = async () =>
  (await database.db('events').where({ project_id: projectId })).length;

const remove = (uuid: string) =>
  deletePerson(database.db, { projectId, uuid, deletesEvents: true }, new Date());

/** Runs the deletion up to where it waits for the lock, does the work, and lets it go on. */
async function removeDuring(uuid: string, work: (tx: Tx) => Promise<void>): Promise<void> {
  let deletion: Promise<void> = Promise.resolve();
  await database.db.transaction(async (tx) => {
    await lockPersons(tx, [projectId]);
    deletion = remove(uuid);
    // Whoever awaits it later hears of its failure.
    deletion.catch(() => {});
    await vi.waitFor(async () => {
      const { rows } = await database.db.raw<{ rows: unknown[] }>(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      expect(rows).toHaveLength(1);
    });
    await work(tx);
  });
  await deletion;
}

it('deletes an event that comes in while earlier ones are being deleted', async () => {
  const uuid = await create('ann');
  await removeDuring(uuid, (tx) => write(tx, 'ann'));
  expect([await find('ann'), await countEvents()]).toEqual([null, 0]);
});

it('deletes the events of an id that the person gets meanwhile', async () => {
  await create('visitor');
  await ensurePartitions(database.db, LONG_AGO, 1);
  await database
    .db('events')
    .where({ project_id: projectId })
    .update({ received_on: '2025-01-01' });
  const uuid = await create('ann');
  await removeDuring(uuid, (tx) => write(tx, 'ann', '$identify', { $anon_distinct_id: 'visitor' }));
  const left = await database.db('events').where({ project_id: projectId });
  expect([await find('ann'), await find('visitor'), left]).toEqual([null, null, []]);
});

it('deletes nothing when the person is absorbed by another one meanwhile', async () => {
  const uuid = await create('visitor');
  await create('ann');
  const deletion = removeDuring(uuid, (tx) =>
    write(tx, 'ann', '$identify', { $anon_distinct_id: 'visitor' }),
  );
  await expect(deletion).rejects.toMatchObject({ kind: 'not_found' });
  expect(await countEvents()).toBe(3);
  expect((await find('visitor'))?.distinctIds).toEqual(['ann', 'visitor']);
});

it('keeps the events when the person cannot be deleted', async () => {
  const uuid = await create('ann');
  const { db } = database;
  await db.raw(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
    CREATE TRIGGER refusing BEFORE DELETE ON persons FOR EACH ROW EXECUTE FUNCTION refuse();`);
  await expect(remove(uuid)).rejects.toThrow('refused');
  await db.raw('DROP TRIGGER refusing ON persons; DROP FUNCTION refuse;');
  expect([await countEvents(), (await find('ann'))?.uuid]).toEqual([1, uuid]);
});

it('takes the person out of the distinct users of flags, and leaves the calls', async () => {
  const call = { $feature_flag: 'banner', $feature_flag_response: true };
  const now = new Date();
  const twoDaysAgo = new Date(now.getTime() - 2 * 86_400_000);
  const calls = [
    ['ann', twoDaysAgo],
    ['ann', now],
    ['ben', twoDaysAgo],
  ] as const;
  for (const [distinctId, timestamp] of calls) {
    const uuid = randomUUID();
    const event = FLAG_CALLED;
    const called = { uuid, event, distinctId, properties: call, timestamp, receivedAt: now };
    await database.db.transaction((tx) => storeEvents(tx, projectId, [called]));
  }
  await remove((await find('ann'))?.uuid ?? '');
  expect(await readUsage()).toMatchObject([
    {
      users: 1,
      callsByDay: { size: 2 },
      usersByDay: new Map([
        [dayOf(twoDaysAgo), 1],
        [dayOf(now), 0],
      ]),
    },
  ]);
  await remove((await find('ben'))?.uuid ?? '');
  expect(await readUsage()).toMatchObject([{ users: 0, callsByDay: { size: 2 } }]);
  expect(await database.db('flag_usage_users')).toEqual([]);
});

it('lowers the counts of the static cohorts that the person was in, and of no other', async () => {
  const uuid = await create('ann');
  await create('ben');
  const people = [(await find('ann'))?.id ?? 0, (await find('ben'))?.id ?? 0];
  const cohorts = [];
  for (const members of [people, people.slice(1)]) {
    const row = { project_id: projectId, name: 'c', is_static: true };
    const [cohort] = await database.db('cohorts').insert(row).returning(['id', 'project_id']);
    const id = cohort?.id ?? 0;
    await database.db.transaction((tx) => addMembers(tx, { id, projectId }, members));
    cohorts.push(id);
  }
  await remove(uuid);
  const counts = database.db('cohorts').whereIn('id', cohorts).orderBy('id').pluck('count');
  expect(await counts).toEqual([1, 1]);
});
