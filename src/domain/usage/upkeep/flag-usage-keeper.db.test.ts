import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { storeEvents } from '../../../../test/store-events.ts';
import { ensurePartitions } from '../../events/event-partitions.ts';
import { lockPersons } from '../../persons/write/persons-writes.ts';
import { keepFlagUsage, noteUsageOnFlags, pruneFlagUsage } from './flag-usage-keeper.ts';

const NOW = new Date('2026-03-31T12:00:00Z');
const EARLIER = new Date('2026-03-01T00:00:00Z');

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  await ensurePartitions(database.db, NOW, 1);
});
afterAll(() => database.destroy());
beforeEach(async () => {
  const [project] = await database
    .db('projects')
    .insert({ name: 'p', api_token: `phc_${v7()}` })
    .returning('id');
  projectId = project?.id ?? 0;
});

async function createFlag(key: string, columns: object = {}): Promise<number> {
  const [flag] = await database
    .db('feature_flags')
    .insert({ project_id: projectId, key, created_at: EARLIER, ...columns })
    .returning('id');
  return flag?.id ?? 0;
}

async function use(
  key: string,
  times: { timestamp?: Date; receivedAt?: Date; event?: string; properties?: object } = {},
): Promise<void> {
  const { timestamp = NOW, receivedAt = NOW, event = '$feature_flag_called' } = times;
  const properties = {
    $feature_flag: key,
    feature_flag: key,
    $feature_flag_response: true,
    ...times.properties,
  };
  const used = { uuid: v7(), event, distinctId: 'p', properties, timestamp, receivedAt };
  await database.db.transaction((tx) => storeEvents(tx, projectId, [used]));
}

const readFlag = (id: number) => database.db('feature_flags').where({ id }).first();
const readRevision = async () =>
  (await database.db('projects').where({ id: projectId }).first())?.revision;

describe('noteUsageOnFlags', () => {
  it('tells when a flag was last called, and raises neither version nor revision', async () => {
    const id = await createFlag('called');
    const before = await readFlag(id);
    const revision = await readRevision();
    await use('called', { timestamp: new Date('2026-03-30T10:00:00Z') });
    await use('called', { timestamp: new Date('2026-03-20T10:00:00Z') });
    await noteUsageOnFlags(database.db, null);
    expect(await readFlag(id)).toEqual({
      ...before,
      last_called_at: new Date('2026-03-30T10:00:00Z'),
    });
    expect(await readRevision()).toBe(revision);
    expect(await database.db('activity_log').where({ project_id: projectId })).toEqual([]);
  });

  it('never goes back, nor beyond the receipt of the event', async () => {
    const later = await createFlag('later', { last_called_at: NOW });
    await use('later', { timestamp: EARLIER });
    const ahead = await createFlag('ahead');
    await use('ahead', { timestamp: new Date('2026-03-31T20:00:00Z') });
    await noteUsageOnFlags(database.db, null);
    expect((await readFlag(later))?.last_called_at).toEqual(NOW);
    expect((await readFlag(ahead))?.last_called_at).toEqual(NOW);
  });

  it('leaves flags alone that are deleted, of another project, or younger than the call', async () => {
    await use('same');
    const ids = [
      await createFlag('same', { deleted: true }),
      await createFlag('same', { created_at: new Date(NOW.getTime() + 1) }),
    ];
    const [other] = await database
      .db('projects')
      .insert({ name: 'other', api_token: `phc_${v7()}` })
      .returning('id');
    projectId = other?.id ?? 0;
    ids.push(await createFlag('same'));
    await noteUsageOnFlags(database.db, null);
    for (const id of ids) expect((await readFlag(id))?.last_called_at).toBeNull();
  });

  it('notices that views of a feature exist', async () => {
    const id = await createFlag('viewed');
    await use('viewed', { event: '$feature_view' });
    await noteUsageOnFlags(database.db, new Date(NOW.getTime() - 1));
    expect(await readFlag(id)).toMatchObject({
      has_enriched_analytics: true,
      last_called_at: null,
    });
  });

  it('looks only at what was received since the instant that it is given', async () => {
    const id = await createFlag('old');
    await use('old');
    await noteUsageOnFlags(database.db, new Date(NOW.getTime() + 1));
    expect((await readFlag(id))?.last_called_at).toBeNull();
  });

  it('does not wait for a flag that somebody is changing', async () => {
    const id = await createFlag('busy');
    await use('busy');
    await database.db.transaction(async (tx) => {
      await tx('feature_flags').where({ id }).forUpdate().first();
      await noteUsageOnFlags(database.db, null);
    });
    await noteUsageOnFlags(database.db, null);
    expect((await readFlag(id))?.last_called_at).toEqual(NOW);
  });
});

describe('pruneFlagUsage', () => {
  it.each([
    [90, new Date('2026-06-29T12:00:00Z'), new Date('2026-06-30T12:00:00Z')],
    [2, new Date('2026-04-02T12:00:00Z'), new Date('2026-04-03T12:00:00Z')],
  ])(
    'deletes what is older than %i days, with its series and visitors',
    async (days, last, later) => {
      const personless = { properties: { $process_person_profile: false } };
      await use('pruned', personless);
      await use('kept', personless);
      await database
        .db('flag_usage_series')
        .where({ project_id: projectId, flag_key: 'kept' })
        .update({ last_received_at: later });
      await pruneFlagUsage(database.db, { now: last, retentionDays: days });
      const tables = ['flag_usage_days', 'flag_usage_users'] as const;
      for (const table of tables) expect(await database.db(table)).not.toEqual([]);
      await pruneFlagUsage(database.db, { now: later, retentionDays: days });
      for (const table of tables) expect(await database.db(table)).toEqual([]);
      expect(await database.db('flag_usage_visitors')).toEqual([]);
      const series = await database.db('flag_usage_series').where({ project_id: projectId });
      expect(series.map(({ flag_key }) => flag_key)).toEqual(['kept']);
    },
  );

  it('passes over what capture is changing, without waiting, and takes it the next time', async () => {
    const options = { now: new Date('2026-06-30T12:00:00Z'), retentionDays: 90 };
    const tables = ['flag_usage_days', 'flag_usage_users'] as const;
    await use('busy');
    await database.db.transaction(async (tx) => {
      for (const table of tables) expect(await tx(table).forUpdate()).toHaveLength(1);
      await pruneFlagUsage(database.db, options);
    });
    for (const table of tables) expect(await database.db(table)).toHaveLength(1);
    await pruneFlagUsage(database.db, options);
    for (const table of tables) expect(await database.db(table)).toEqual([]);
  });

  it('deletes visitors whatever their distinct ids look like, and keeps those of other projects', async () => {
    const { db } = database;
    const odd = ['', ' ', 'NULL', '{a,b}', '"quoted"', 'back\\slash', "it's", 'ü'];
    const visitors = odd.map((distinct_id) => ({ project_id: projectId, distinct_id }));
    const other = { project_id: projectId + 1_000_000, distinct_id: "it's" };
    await db('flag_usage_visitors').insert(visitors);
    const [kept] = await db('flag_usage_visitors').insert(other).returning('id');
    const series_id = 1_000_000;
    await db('flag_usage_users').insert({
      user_id: -(kept?.id ?? 0),
      series_id,
      day: '2026-03-31',
    });
    await pruneFlagUsage(db, { now: NOW, retentionDays: 90 });
    expect(await db('flag_usage_visitors')).toMatchObject([other]);
    await db('flag_usage_users').where({ series_id }).delete();
    await db('flag_usage_visitors').delete();
  });

  it('does nothing more once it is to stop', async () => {
    await use('stopped', { properties: { $process_person_profile: false } });
    const options = { now: new Date('2026-06-30T12:00:00Z'), retentionDays: 90 };
    let steps = 1;
    const isStopped = () => {
      steps -= 1;
      return steps < 0;
    };
    await pruneFlagUsage(database.db, { ...options, isStopped });
    expect(await database.db('flag_usage_users')).toEqual([]);
    for (const table of ['flag_usage_days', 'flag_usage_visitors'] as const) {
      expect(await database.db(table)).toHaveLength(1);
    }
    await pruneFlagUsage(database.db, options);
    expect(await database.db('flag_usage_visitors')).toEqual([]);
  });
});

describe('keepFlagUsage', () => {
  it('works by itself until it is stopped, and outlives an outage', async () => {
    const id = await createFlag('kept-up-to-date');
    await use('kept-up-to-date');
    const warnings: string[] = [];
    await database.db.raw('ALTER TABLE flag_usage_series RENAME TO away');
    const keeper = keepFlagUsage({
      db: database.db,
      now: () => NOW,
      retentionDays: 90,
      log: { warn: (_, message) => warnings.push(message) },
      everyMs: 10,
    });
    await expect.poll(() => warnings.length).toBeGreaterThan(0);
    await database.db.raw('ALTER TABLE away RENAME TO flag_usage_series');
    await expect.poll(async () => (await readFlag(id))?.last_called_at).toEqual(NOW);
    await keeper.stop();
  });

  it('stops without doing the rest of its work', async () => {
    await use('interrupted', { properties: { $process_person_profile: false } });
    let stopped: Promise<void> | null = null;
    await database.db.transaction(async (tx) => {
      await lockPersons(tx, [projectId]);
      const keeper = keepFlagUsage({
        db: database.db,
        now: () => new Date('2026-06-30T12:00:00Z'),
        retentionDays: 90,
        log: { warn() {} },
        everyMs: 1,
      });
      await untilSomebodyWaits();
      stopped = keeper.stop();
    });
    await stopped;
    expect(await database.db('flag_usage_users')).toEqual([]);
    expect(await database.db('flag_usage_visitors')).toHaveLength(1);
  });
});

async function untilSomebodyWaits(): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await database.db.raw(
        `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE NOT l.granted AND a.datname = current_database()`,
      );
      return rows;
    })
    .toHaveLength(1);
}
