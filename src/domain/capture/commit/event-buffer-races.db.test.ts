import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { parseCaptureBody } from '../../../../test/parse-capture-body.ts';
import type { JsonObject } from '../../common/json.ts';
import { createDb } from '../../database/db.ts';
import { listEvents } from '../../events/events-queries.ts';
import { getPersonByDistinctId, listGroupTypes } from '../../persons/persons-queries.ts';
import { createEventBuffer } from './event-buffer.ts';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const ROUNDS = 60;

let database: DisposableDatabase;

beforeAll(async () => {
  database = await createDisposableDatabase();
});
afterAll(() => database.destroy());

function pick(seed: number): string {
  return IDS[seed % IDS.length] ?? 'a';
}

function parse(batch: JsonObject[]) {
  return parseCaptureBody({ api_key: 't', batch }, { path: 'event', receivedAt: new Date() })
    .events;
}

it('two processes change the same persons at once without a deadlock or a lost property', async () => {
  const [project] = await database
    .db('projects')
    .insert({ name: 'p', api_token: 't' })
    .returning('id');
  const projectId = project?.id ?? 0;
  const trouble: string[] = [];
  const log = {
    warn: (_fields: object, message: string) => trouble.push(message),
    error: (_fields: object, message: string) => trouble.push(message),
  };
  const pools = [createDb(database.connection, 2), createDb(database.connection, 2)];
  const added: number[] = [];
  const onGroupTypesAdded = async (id: number) => void added.push(id);
  const buffers = pools.map((db) =>
    createEventBuffer({ db, flushAfterMs: 0, flushMaxEvents: 7, onGroupTypesAdded, log }),
  );
  const expected = new Map<string, string>();
  await Promise.all(
    buffers.flatMap((buffer, side) =>
      Array.from({ length: ROUNDS }, (_, round) => {
        const key = `${side}-${round}`;
        const owner = pick(round * 5 + side);
        expected.set(key, owner);
        return buffer.add(
          projectId,
          parse([
            { event: 'x', distinct_id: owner, properties: { $set: { [key]: round } } },
            {
              event: round % 3 === 0 ? '$merge_dangerously' : '$create_alias',
              distinct_id: pick(round * 3 + side),
              properties: { alias: pick(round * 7 + 1), $groups: { [`type-${round % 4}`]: 'k' } },
            },
            {
              event: '$groupidentify',
              distinct_id: 'nobody',
              properties: {
                $group_type: 'company',
                $group_key: pick(round),
                $group_set: { [key]: round },
              },
            },
          ]),
        );
      }),
    ),
  );
  for (const [key, owner] of expected) {
    const person = await getPersonByDistinctId(database.db, projectId, owner);
    expect(person?.properties).toHaveProperty(key);
  }
  const groups = await database.db('groups').where({ project_id: projectId });
  expect(groups.flatMap((row) => Object.keys(row.properties)).toSorted()).toEqual(
    [...expected.keys()].toSorted(),
  );
  expect(await listGroupTypes(database.db, projectId)).toHaveLength(5);
  expect(new Set(added)).toEqual(new Set([projectId]));
  const stored = await listEvents(database.db, projectId, { limit: 1_000 });
  expect(stored).toHaveLength(2 * ROUNDS * 3);
  expect(trouble).toEqual([]);
  await Promise.all(pools.map((pool) => pool.destroy()));
});
