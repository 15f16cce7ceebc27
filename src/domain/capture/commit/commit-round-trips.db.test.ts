import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { aBuffer, events, insertProject } from '../../../../test/event-buffers.ts';
import { createStallingProxy, type StallingProxy } from '../../../../test/stalling-proxy.ts';
import type { JsonObject } from '../../common/json.ts';
import { createDb, type Db } from '../../database/db.ts';
import { raiseProjectRevision } from '../../projects/projects-writes.ts';
import { newUuid } from '../parse/new-uuid.ts';
import type { EventBuffer } from './event-buffer.ts';

let database: DisposableDatabase;
let proxy: StallingProxy;
/** One connection only, so that all that is sent is seen in its order. */
let db: Db;
let buffer: EventBuffer;
let projectId = 0;
let now = 0;
const sent: string[] = [];

beforeAll(async () => {
  database = await createDisposableDatabase();
  proxy = await createStallingProxy(database.connection);
  db = createDb(proxy.connection, 1);
  db.on('query', ({ sql }: { sql: string }) => sent.push(sql));
});
beforeEach(async () => {
  projectId = await insertProject(database.db);
  now = 0;
  buffer = aBuffer(db, {
    now: () => now,
    onGroupTypesAdded: async (id, tx) => {
      await raiseProjectRevision(tx, id);
      return undefined;
    },
  });
  await buffer.add(
    projectId,
    events({ distinct_id: 'known', uuid: REPEATED }, { distinct_id: 'older' }),
  );
});
afterAll(async () => {
  await db.destroy();
  await proxy.close();
  await database.destroy();
});

const REPEATED = newUuid();

/** The steps of a commit by what is particular to their statements. */
const STEPS: readonly (readonly [step: string, sql: RegExp])[] = [
  ['begin', /^BEGIN/],
  ['claim', /INSERT INTO event_uuids/],
  ['lock persons', /pg_advisory_xact_lock/],
  ['find persons', /CROSS JOIN LATERAL.*FROM persons/s],
  ['find group types', /SELECT project_id, group_type/],
  ['add group types', /INSERT INTO group_types/],
  ['raise revision', /UPDATE projects SET revision/],
  ['add persons', /INSERT INTO persons/],
  ['update persons', /UPDATE persons/],
  ['add distinct ids', /INSERT INTO person_distinct_ids/],
  ['take visitors', /DELETE FROM flag_usage_visitors/],
  ['lock merged persons', /ORDER BY id FOR UPDATE/],
  ['move memberships', /cohort_members/],
  ['move kept identifiers', /INSERT INTO hash_key_overrides/],
  ['move distinct ids', /UPDATE person_distinct_ids/],
  ['move uses of flags', /DELETE FROM flag_usage_users/],
  ['delete persons', /DELETE FROM persons/],
  ['write groups', /INSERT INTO groups/],
  ['add series', /INSERT INTO flag_usage_series/],
  ['count uses', /INSERT INTO flag_usage_days/],
  ['find series', /FROM unnest.*flag_usage_series/s],
  ['add events', /INSERT INTO events /],
  ['commit', /^COMMIT/],
  ['rollback', /^ROLLBACK/],
];

/** What one commit sends, without the hints to the planner, and in how many round trips. */
async function commit(...batch: JsonObject[]) {
  sent.length = 0;
  const before = proxy.roundTrips();
  await buffer.add(projectId, events(...batch));
  const steps = sent
    .filter((sql) => !sql.startsWith('SET LOCAL plan_cache_mode'))
    .map((sql) => STEPS.find(([, pattern]) => pattern.test(sql))?.[0] ?? sql);
  return { steps, roundTrips: proxy.roundTrips() - before };
}

const GATHER = ['begin', 'claim', 'lock persons', 'find persons'];
const STORE = ['add events', 'commit'];
const NAMED = { $group_type: 'firm', $group_key: 'acme', $group_set: { a: 1 } };
const CALLED = { $feature_flag: 'f', $feature_flag_response: true };

it('stores events of known persons in two round trips', async () => {
  expect(await commit({ distinct_id: 'known' }, { distinct_id: 'older' })).toEqual({
    steps: [...GATHER, ...STORE],
    roundTrips: 2,
  });
  expect(await commit({ distinct_id: 'known', properties: { $set: { a: 1 } } })).toEqual({
    steps: [...GATHER, 'update persons', ...STORE],
    roundTrips: 2,
  });
});

it('adds any number of persons in two more', async () => {
  const batch = ['a', 'b', 'c'].map((id) => ({ distinct_id: id, properties: { $set: { a: 1 } } }));
  expect(await commit(...batch)).toEqual({
    steps: [...GATHER, 'add persons', 'add distinct ids', 'take visitors', ...STORE],
    roundTrips: 4,
  });
});

it('adds group types and raises the revision before it changes persons, in two more', async () => {
  const named = { event: '$groupidentify', distinct_id: 'known', properties: NAMED };
  expect(await commit(named)).toEqual({
    steps: [
      ...[...GATHER, 'find group types', 'add group types', 'raise revision', 'write groups'],
      ...STORE,
    ],
    roundTrips: 5,
  });
  expect(await commit(named)).toEqual({
    steps: [...GATHER, 'find group types', 'write groups', ...STORE],
    roundTrips: 3,
  });
});

it('merges any number of persons in five more', async () => {
  const merged = { distinct_id: 'known', properties: { $anon_distinct_id: 'older' } };
  expect(await commit({ event: '$identify', ...merged })).toEqual({
    steps: [
      ...[...GATHER, 'update persons', 'lock merged persons', 'move memberships'],
      ...['move kept identifiers', 'move distinct ids', 'move uses of flags', 'delete persons'],
      ...STORE,
    ],
    roundTrips: 7,
  });
});

it('counts calls of known flags in one more', async () => {
  const called = { event: '$feature_flag_called', distinct_id: 'known', properties: CALLED };
  expect(await commit(called)).toEqual({
    steps: [...GATHER, 'find series', 'add series', 'find series', 'count uses', ...STORE],
    roundTrips: 5,
  });
  expect(await commit(called)).toEqual({
    steps: [...GATHER, 'find series', 'count uses', ...STORE],
    roundTrips: 3,
  });
});

it('begins again when an event is stored already, and reckons with repeats from then on', async () => {
  const repeated = { uuid: REPEATED, distinct_id: 'known' };
  expect(await commit(repeated)).toEqual({
    steps: [...GATHER, 'rollback', ...GATHER, 'commit'],
    roundTrips: 4,
  });
  expect(await commit(repeated)).toEqual({ steps: [...GATHER, 'commit'], roundTrips: 2 });
});
