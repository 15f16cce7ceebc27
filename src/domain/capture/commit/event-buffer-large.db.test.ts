import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { aBuffer, events, insertProject } from '../../../../test/event-buffers.ts';
import type { JsonObject } from '../../common/json.ts';

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  projectId = await insertProject(database.db);
});
afterAll(() => database.destroy());

const call = (key: string, properties: JsonObject) => ({
  event: '$feature_flag_called',
  properties: { $feature_flag: key, $feature_flag_response: true, ...properties },
});

// Each within the time that a commit has: what a statement costs must not grow with the square of
// the rows that it is given.
it.each<[string, number, (at: number) => JsonObject]>([
  [
    'calls of a flag by visitors',
    10_000,
    (at) => ({ ...call('f', { $process_person_profile: false }), distinct_id: `visitor-${at}` }),
  ],
  ['calls of flags', 10_000, (at) => ({ ...call(`f${at}`, {}), distinct_id: 'u' })],
  [
    'new persons',
    10_000,
    (at) => ({ event: 'x', distinct_id: `u${at}`, properties: { $set: { at } } }),
  ],
  [
    'merges',
    2_000,
    (at) => ({
      event: '$identify',
      distinct_id: `user-${at}`,
      properties: { $anon_distinct_id: `anonymous-${at}`, $set: { at } },
    }),
  ],
  [
    'groups',
    5_000,
    (at) => ({
      event: '$groupidentify',
      distinct_id: 'u',
      properties: { $group_type: 'firm', $group_key: `g${at}`, $group_set: { at } },
    }),
  ],
])(
  'a commit of many %s goes through, again and again',
  async (_what, count, createEvent) => {
    const refused: string[] = [];
    const note = (_fields: object, message: string) => refused.push(message);
    const buffer = aBuffer(database.db, { log: { warn: note, error: note } });
    for (let round = 0; round < 2; round += 1) {
      const batch = Array.from({ length: count }, (_, at) => createEvent(at + (round * count) / 2));
      await buffer.add(projectId, events(...batch));
    }
    expect(refused).toEqual([]);
  },
  60_000,
);
