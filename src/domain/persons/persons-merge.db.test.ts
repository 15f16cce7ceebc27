import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { moveHashKeyOverrides, writeHashKeyOverrides } from './hash-key-overrides-writes.ts';
import type { PersonDraft } from './person-ledger.ts';
import { writeMerges } from './persons-merge.ts';

let database: DisposableDatabase;
let projectId = 0;

beforeAll(async () => {
  database = await createDisposableDatabase();
  const row = { name: 'p', api_token: 'phc_merges' };
  const [project] = await database.db('projects').insert(row).returning('id');
  projectId = project?.id ?? 0;
});
afterAll(() => database.destroy());

async function aPerson(): Promise<number> {
  const [person] = await database.db('persons').insert({ project_id: projectId }).returning('id');
  return person?.id ?? 0;
}

function toDraft(id: number, mergedInto: PersonDraft | null): PersonDraft {
  const empty = { properties: new Map(), isIdentified: false, isChanged: false };
  return { id, ...empty, createdAt: new Date(), mergedInto };
}

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

it.each(['the older', 'the newer'])(
  'keeps an identifier of both persons while %s one is being absorbed',
  async (which) => {
    const ids = [await aPerson(), await aPerson()];
    const [fromId = 0, toId = 0] = which === 'the older' ? ids : ids.toReversed();
    const keep = (personIds: readonly number[], hashKey: string) =>
      writeHashKeyOverrides(database.db, { personIds, flagKeys: ['a', 'b'], hashKey });
    await keep([fromId], 'of the absorbed');
    let kept: ReturnType<typeof keep> | null = null;
    await database.db.transaction(async (tx) => {
      const to = toDraft(toId, null);
      const from = toDraft(fromId, to);
      await writeMerges(
        tx,
        [{ projectId, merges: [{ from, to }] }],
        [
          moveHashKeyOverrides,
          async () => {
            kept = keep(ids, 'of the request');
            await untilSomebodyWaits();
          },
        ],
      );
    });
    const moved = new Map([
      ['a', 'of the absorbed'],
      ['b', 'of the absorbed'],
    ]);
    expect(await kept).toEqual(new Map([[toId, moved]]));
  },
);
