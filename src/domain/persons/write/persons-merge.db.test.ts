import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { pipelinedTransaction, sendWith } from '../../database/pipeline.ts';
import type { PersonDraft } from '../model/person-ledger.ts';
import { moveHashKeyOverrides, writeHashKeyOverrides } from './hash-key-overrides-writes.ts';
import { type MovePersonRows, type ProjectMerges, writeMerges } from './persons-merge.ts';

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

/** The merges of the first into the second and of the second into the third. */
function toChain(a: number, b: number, c: number): ProjectMerges {
  const last = toDraft(c, null);
  const middle = toDraft(b, last);
  const merges = [
    { from: toDraft(a, middle), to: middle },
    { from: middle, to: last },
  ];
  return { projectId, merges };
}

/** Merges as capture does. */
async function merge(merges: ProjectMerges, moves?: readonly MovePersonRows[]): Promise<void> {
  const limits = { lockMs: 1_000, statementMs: 1_000, totalMs: 5_000 };
  await pipelinedTransaction(database.db, limits, async (tx) =>
    sendWith(await writeMerges(tx, [merges], moves)),
  );
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

it('starts every move, in the order of the merges, before it waits for any of them', async () => {
  const [a, b, c] = [await aPerson(), await aPerson(), await aPerson()];
  const heard: string[] = [];
  const move =
    (name: string): MovePersonRows =>
    async (tx, _projectId, from, to) => {
      heard.push(`${name} ${from} ${to}`);
      await tx.raw('SELECT');
      heard.push('done');
    };
  await merge(toChain(a, b, c), [move('one'), move('two')]);
  const started = [`one ${a} ${b}`, `two ${a} ${b}`, `one ${b} ${c}`, `two ${b} ${c}`];
  expect(heard).toEqual([...started, 'done', 'done', 'done', 'done']);
});

it('hands what persons own through a chain of merges', async () => {
  const { db } = database;
  const [a, b, c] = [await aPerson(), await aPerson(), await aPerson()];
  const keep = (id: number, flagKeys: readonly string[], hashKey: string) =>
    writeHashKeyOverrides(db, { personIds: [id], flagKeys, hashKey });
  await keep(a, ['a', 'b', 'c'], 'of a');
  await keep(b, ['b', 'c'], 'of b');
  await keep(c, ['c'], 'of c');
  const [cohort] = await db('cohorts')
    .insert({ project_id: projectId, name: 'chain', is_static: true, count: 2 })
    .returning('id');
  const cohortId = cohort?.id ?? 0;
  await db('cohort_members').insert([a, c].map((id) => ({ cohort_id: cohortId, person_id: id })));
  await merge(toChain(a, b, c));
  const kept = await db('hash_key_overrides')
    .whereIn('person_id', [a, b, c])
    .orderBy('feature_flag_key')
    .select('person_id', 'feature_flag_key', 'hash_key');
  expect(kept).toEqual(
    ['a', 'b', 'c'].map((key) => ({
      person_id: c,
      feature_flag_key: key,
      hash_key: `of ${key}`,
    })),
  );
  const members = await db('cohort_members').where({ cohort_id: cohortId }).pluck('person_id');
  expect(members).toEqual([c]);
  expect(await db('cohorts').where({ id: cohortId }).first('count')).toEqual({ count: 1 });
});
