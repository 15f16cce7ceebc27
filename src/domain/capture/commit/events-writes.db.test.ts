import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../../test/disposable-database.ts';
import { storeEvents } from '../../../../test/store-events.ts';
import { createDb, type Db } from '../../database/db.ts';
import { pipelinedTransaction, sendWith } from '../../database/pipeline.ts';
import { ensurePartitions } from '../../events/event-partitions.ts';
import { newUuid } from '../parse/new-uuid.ts';

const LIMITS = { lockMs: 5_000, statementMs: 5_000, totalMs: 10_000 };

let database: DisposableDatabase;
/** One connection only, whose statements are prepared while the tables are empty. */
let db: Db;

beforeAll(async () => {
  database = await createDisposableDatabase();
  db = createDb(database.connection, 1);
  await ensurePartitions(db, new Date(), 2);
});
afterAll(async () => {
  await db.destroy();
  await database.destroy();
});

function anEvent(person: number) {
  const now = new Date();
  return {
    uuid: newUuid(),
    event: 'x',
    distinctId: `u${person % 7}`,
    properties: { $set: { visits: person } },
    timestamp: now,
    receivedAt: now,
  };
}

it('reads no table from end to end, however small it was when a statement was prepared', async () => {
  const [project] = await db('projects').insert({ name: 'p', api_token: 'phc_p' }).returning('id');
  for (let commit = 0; commit < 20; commit += 1) {
    const scanned = await pipelinedTransaction(db, LIMITS, async (tx) => {
      await storeEvents(
        tx,
        project?.id ?? 0,
        Array.from({ length: 30 }, (_, at) => anEvent(at)),
      );
      const { rows } = await tx.raw(
        `SELECT relname FROM pg_stat_xact_user_tables
         WHERE seq_scan > 0 AND relname = ANY (?)`,
        [['persons', 'person_distinct_ids', 'event_uuids']],
      );
      return sendWith(rows);
    });
    expect(scanned).toEqual([]);
  }
});
