import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { storeEvents } from '../../../../test/store-events.ts';
import type { CaptureEvent } from '../../capture/parse/capture-event.ts';
import type { JsonObject } from '../../common/json.ts';
import { ensurePartitions } from '../../events/event-partitions.ts';
import { readFlagUsage, type VariantUsage } from './flag-usage-queries.ts';
import { UNKNOWN_KEYS_MAX, VARIANTS_MAX } from './flag-usage-series.ts';
import { FLAG_CALLED, OTHER_VARIANTS } from './flag-use.ts';
import { FullProjects } from './full-projects.ts';

const RECEIVED_AT = new Date('2026-03-31T12:00:00Z');
const FIRST_DAY = '2026-03-01';

let database: DisposableDatabase;

beforeAll(async () => {
  database = await createDisposableDatabase();
  await ensurePartitions(database.db, RECEIVED_AT, 1);
});
afterAll(() => database.destroy());

async function createProject(timezone = 'UTC'): Promise<number> {
  const [project] = await database
    .db('projects')
    .insert({ name: 'p', api_token: `phc_${v7()}`, timezone })
    .returning('id');
  return project?.id ?? 0;
}

async function store(projectId: number, events: readonly CaptureEvent[]): Promise<void> {
  await database.db.transaction((tx) => storeEvents(tx, projectId, events));
}

function anEvent(event: string, distinctId: string, properties: JsonObject): CaptureEvent {
  const timestamp = RECEIVED_AT;
  return { uuid: v7(), event, distinctId, properties, timestamp, receivedAt: RECEIVED_AT };
}

function aCall(distinctId: string, flag: string, response: string, day: string): CaptureEvent {
  const properties = { $feature_flag: flag, $feature_flag_response: response };
  return {
    ...anEvent(FLAG_CALLED, distinctId, properties),
    timestamp: new Date(`${day}T10:00:00Z`),
  };
}

async function read(projectId: number, flagKeys = ['a', 'b'], firstDay = FIRST_DAY) {
  const events = [FLAG_CALLED];
  return readFlagUsage(database.db, { projectId, flagKeys, events, firstDay });
}

interface Counts {
  readonly calls: Record<string, number>;
  readonly users: Record<string, number>;
  readonly allUsers: number;
}

function toCounts(usage: readonly VariantUsage[]): Record<string, Counts> {
  return Object.fromEntries(
    usage.map(({ flagKey, variant, callsByDay, usersByDay, users }) => [
      `${flagKey} ${variant}`,
      {
        calls: Object.fromEntries(callsByDay),
        users: Object.fromEntries(usersByDay),
        allUsers: users,
      },
    ]),
  );
}

/** The true counts, from what was sent and from who the distinct ids belong to in the end. */
async function countTruth(
  projectId: number,
  sent: readonly CaptureEvent[],
): Promise<Record<string, Counts>> {
  const owners = await database.db('person_distinct_ids').where({ project_id: projectId });
  const ownerOf = new Map(owners.map((row) => [row.distinct_id, String(row.person_id)]));
  const byUuid = new Map(sent.map((event) => [event.uuid, event]));
  const all = new Map<string, { calls: Map<string, number>; users: Map<string, Set<string>> }>();
  for (const { event, distinctId, properties, timestamp } of byUuid.values()) {
    const day = timestamp.toISOString().slice(0, 10);
    if (event !== FLAG_CALLED || day < FIRST_DAY) continue;
    const key = `${properties.$feature_flag} ${properties.$feature_flag_response}`;
    const counts = all.get(key) ?? { calls: new Map(), users: new Map() };
    all.set(key, counts);
    counts.calls.set(day, (counts.calls.get(day) ?? 0) + 1);
    const users = counts.users.get(day) ?? new Set();
    counts.users.set(day, users.add(ownerOf.get(distinctId) ?? `visitor ${distinctId}`));
  }
  return Object.fromEntries(
    [...all].map(([key, { calls, users }]) => [
      key,
      {
        calls: Object.fromEntries(calls),
        users: Object.fromEntries([...users].map(([day, { size }]) => [day, size])),
        allUsers: new Set([...users.values()].flatMap((set) => [...set])).size,
      },
    ]),
  );
}

const distinctId = fc.constantFrom('p1', 'p2', 'p3', 'p4', 'p5', 'p6');
const call = fc
  .record({
    id: distinctId,
    flag: fc.constantFrom('a', 'b'),
    response: fc.constantFrom('x', 'y'),
    // The first day lies before what is read.
    day: fc.constantFrom('2026-02-20', '2026-03-01', '2026-03-02', '2026-03-15'),
    isPersonless: fc.boolean(),
  })
  .map(({ id, flag, response, day, isPersonless }) => {
    const event = aCall(id, flag, response, day);
    if (!isPersonless) return event;
    const properties = { ...event.properties, $process_person_profile: false };
    return { ...event, properties };
  });
const change = fc
  .record({
    event: fc.constantFrom('$identify', '$create_alias', '$merge_dangerously'),
    id: distinctId,
    other: distinctId,
  })
  .map(({ event, id, other }) =>
    anEvent(event, id, event === '$identify' ? { $anon_distinct_id: other } : { alias: other }),
  );
const commits = fc.array(
  fc.array(fc.oneof({ weight: 3, arbitrary: call }, change), { minLength: 1, maxLength: 12 }),
  { minLength: 1, maxLength: 6 },
);

describe('the usage of flags', () => {
  it('agrees with what was sent, for any merges, divisions into commits and repeats', async () => {
    await fc.assert(
      fc.asyncProperty(commits, fc.nat(), async (batches, seed) => {
        const projectId = await createProject();
        for (const [index, batch] of batches.entries()) {
          const repeated = batches[seed % (index + 1)] ?? [];
          await store(projectId, [...batch, ...repeated, ...batch.slice(0, 1)]);
        }
        const truth = await countTruth(projectId, batches.flat());
        expect(toCounts(await read(projectId))).toEqual(truth);
      }),
      { numRuns: 120 },
    );
  }, 120_000);

  it('counts a day of the timezone of the project', async () => {
    const projectId = await createProject('America/New_York');
    const late = {
      ...aCall('p', 'a', 'x', '2026-03-05'),
      timestamp: new Date('2026-03-06T04:59Z'),
    };
    const early = { ...late, uuid: v7(), timestamp: new Date('2026-03-06T05:00Z') };
    await store(projectId, [late, early]);
    const { calls } = toCounts(await read(projectId))['a x'] ?? {};
    expect(calls).toEqual({ '2026-03-05': 1, '2026-03-06': 1 });
  });

  it('counts no use after the day on which it was reported', async () => {
    const projectId = await createProject();
    await store(projectId, [aCall('p', 'a', 'x', '2026-04-01')]);
    expect(toCounts(await read(projectId))['a x']?.calls).toEqual({ '2026-03-31': 1 });
  });

  it('keeps projects apart, whose visitors may have the same names', async () => {
    const [first, second] = [await createProject(), await createProject()];
    const properties = { $process_person_profile: false };
    for (const projectId of [first, second]) {
      const event = aCall('same', 'a', 'x', '2026-03-05');
      await store(projectId, [{ ...event, properties: { ...event.properties, ...properties } }]);
    }
    await store(first, [anEvent('$identify', 'known', { $anon_distinct_id: 'same' })]);
    await store(first, [aCall('known', 'a', 'x', '2026-03-05')]);
    for (const [projectId, calls] of [
      [first, 2],
      [second, 1],
    ] as const) {
      expect(toCounts(await read(projectId))).toEqual({
        'a x': { calls: { '2026-03-05': calls }, users: { '2026-03-05': 1 }, allUsers: 1 },
      });
    }
  });

  it('tells a bounded number of variants apart and counts the others together', async () => {
    const projectId = await createProject();
    const variants = Array.from({ length: VARIANTS_MAX + 5 }, (_, index) => `v${index}`);
    const calls = (id: string) => variants.map((variant) => aCall(id, 'a', variant, '2026-03-05'));
    await store(projectId, calls('p'));
    await store(projectId, [...calls('q'), ...calls('p')]);
    const usage = await read(projectId);
    expect(usage).toHaveLength(VARIANTS_MAX + 1);
    expect(toCounts(usage)[`a ${OTHER_VARIANTS}`]).toEqual({
      calls: { '2026-03-05': 15 },
      users: { '2026-03-05': 2 },
      allUsers: 2,
    });
    expect(toCounts(usage)['a v99']).toMatchObject({ allUsers: 2 });
  });

  it('counts a bounded number of keys that no flag has, and those of flags always', async () => {
    const projectId = await createProject();
    const keys = Array.from({ length: UNKNOWN_KEYS_MAX + 5 }, (_, index) => `invented-${index}`);
    const calls = (some: readonly string[]) =>
      some.map((key) => aCall('p', key, 'true', '2026-03-05'));
    await store(projectId, calls(keys.slice(0, 600)));
    await store(projectId, calls(keys.slice(300)));
    await store(projectId, calls(keys.slice(-10)));
    await database
      .db('feature_flags')
      .insert({ project_id: projectId, key: 'real', filters: '{}' });
    await store(projectId, calls(['real', 'invented', 'invented-0']));

    const [counted] = await database
      .db('flag_usage_series')
      .where({ project_id: projectId })
      .count({ series: '*' });
    expect(counted).toEqual({ series: UNKNOWN_KEYS_MAX + 1 });
    const usage = await read(projectId, ['real', 'invented', 'invented-0']);
    expect(usage.map(({ flagKey }) => flagKey).toSorted()).toEqual(['invented-0', 'real']);
  });

  it('has room again for a key that no flag has when one of them becomes a flag', async () => {
    const projectId = await createProject();
    const call = (key: string) => aCall('p', key, 'true', '2026-03-05');
    const keys = Array.from({ length: UNKNOWN_KEYS_MAX }, (_, index) => `invented-${index}`);
    await store(projectId, keys.map(call));
    await store(projectId, [call('late')]);
    expect(await read(projectId, ['late'])).toEqual([]);
    const flag = { project_id: projectId, key: 'invented-7', filters: '{}' };
    await database.db('feature_flags').insert(flag);
    await store(projectId, [call('late'), call('later')]);
    const usage = await read(projectId, ['late', 'later']);
    expect(usage).toHaveLength(1);
  });

  it('looks for room once a minute, and stores no visitors of uses that are not counted', async () => {
    let time = 0;
    const full = new FullProjects(() => time);
    const projectId = await createProject();
    const callBy = (distinctId: string, key: string): CaptureEvent => {
      const call = aCall(distinctId, key, 'true', '2026-03-05');
      return { ...call, properties: { ...call.properties, $process_person_profile: false } };
    };
    const use = (distinctId: string) =>
      database.db.transaction((tx) =>
        storeEvents(tx, projectId, [callBy(distinctId, 'late')], full),
      );
    const listVisitors = () =>
      database.db('flag_usage_visitors').where({ project_id: projectId }).pluck('distinct_id');
    const keys = Array.from({ length: UNKNOWN_KEYS_MAX }, (_, index) => `invented-${index}`);
    await store(
      projectId,
      keys.map((key) => callBy('first', key)),
    );
    await use('second');
    await database.db('flag_usage_series').where({ flag_key: 'invented-0' }).delete();

    await use('third');
    expect(await read(projectId, ['late'])).toEqual([]);
    expect(await listVisitors()).not.toContain('third');

    time = 60_000;
    await use('fourth');
    expect(await read(projectId, ['late'])).toMatchObject([{ users: 1 }]);
    expect(await listVisitors()).toContain('fourth');
  });
});
