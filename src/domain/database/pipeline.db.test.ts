import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createDisposableDatabase,
  type DisposableDatabase,
} from '../../../test/disposable-database.ts';
import { createDb, type Db } from './db.ts';
import type { TransactionLimits } from './deadlines.ts';
import { pipelinedSnapshot, pipelinedTransaction, type Statements, sendWith } from './pipeline.ts';
import { preparedOnce } from './prepared-statements.ts';
import { transaction } from './transaction.ts';

const LIMITS: TransactionLimits = { lockMs: 5_000, statementMs: 5_000, totalMs: 10_000 };

let database: DisposableDatabase;
/** One connection only, so that whatever a transaction leaves behind is seen by the next. */
let db: Db;

beforeAll(async () => {
  database = await createDisposableDatabase();
  db = createDb(database.connection, 1);
  await db.raw('CREATE TABLE notes (text text PRIMARY KEY)');
});
afterAll(async () => {
  await db.destroy();
  await database.destroy();
});
beforeEach(() => db.raw('TRUNCATE notes'));

function note(tx: Statements, text: string) {
  return tx.raw('INSERT INTO notes (text) VALUES (?)', [text]);
}

async function listNotes(): Promise<string[]> {
  const { rows }: { rows: { text: string }[] } = await db.raw('SELECT text FROM notes');
  return rows.map(({ text }) => text).toSorted();
}

describe('a pipelined transaction', () => {
  it('commits what was waited for and what was only sent', async () => {
    const result = await pipelinedTransaction(db, LIMITS, async (tx) => {
      await note(tx, 'waited for');
      return sendWith('done', note(tx, 'sent'), note(tx, 'sent as well'));
    });
    expect(result).toBe('done');
    expect(await listNotes()).toEqual(['sent', 'sent as well', 'waited for']);
  });

  it('keeps its limits to itself', async () => {
    const inside = await pipelinedTransaction(db, LIMITS, async (tx) => {
      const { rows } = await tx.raw("SELECT current_setting('statement_timeout') AS limit");
      return sendWith(rows);
    });
    expect(inside).toEqual([{ limit: '5s' }]);
    const { rows } = await db.raw("SELECT current_setting('statement_timeout') AS limit");
    expect(rows).toEqual([{ limit: '0' }]);
  });

  it.each([
    ['pipelined', pipelinedTransaction],
    ['Knex', transaction],
  ])('has the server end a %s one whose process is gone, and only that', async (_kind, begin) => {
    const setting = "SELECT current_setting('idle_in_transaction_session_timeout') AS limit";
    let inside: unknown;
    await begin(db, LIMITS, async (tx: Statements) => {
      inside = (await tx.raw(setting)).rows;
      return sendWith(undefined);
    });
    expect(inside).toEqual([{ limit: '10s' }]);
    const { rows } = await db.raw(setting);
    expect(rows).toEqual([{ limit: '0' }]);
  });

  it('stores nothing when a statement fails that is sent with the commit', async () => {
    const failed = pipelinedTransaction(db, LIMITS, async (tx) => {
      await note(tx, 'a');
      return sendWith(undefined, note(tx, 'b'), note(tx, 'a'), note(tx, 'c'));
    });
    await expect(failed).rejects.toMatchObject({ code: '23505' });
    expect(await listNotes()).toEqual([]);
  });

  it('fails with the first failure, although nobody waited for that statement', async () => {
    const failed = pipelinedTransaction(db, LIMITS, async (tx) => {
      const { rest } = sendWith(undefined, note(tx, 'a'), note(tx, 'a'));
      await note(tx, 'b');
      return { result: undefined, rest };
    });
    await expect(failed).rejects.toMatchObject({ code: '23505' });
    expect(await listNotes()).toEqual([]);
  });

  it('stores nothing when a statement failed that the work got over', async () => {
    const failed = pipelinedTransaction(db, LIMITS, async (tx) => {
      await note(tx, 'a');
      await Promise.allSettled([note(tx, 'a')]);
      return sendWith(undefined);
    });
    await expect(failed).rejects.toMatchObject({ code: '23505' });
    expect(await listNotes()).toEqual([]);
  });

  it('stores nothing when the work fails, and the connection is good for the next', async () => {
    const failed = pipelinedTransaction(db, LIMITS, async (tx) => {
      await note(tx, 'a');
      throw new Error('the work failed');
    });
    await expect(failed).rejects.toThrow('the work failed');
    await pipelinedTransaction(db, LIMITS, async (tx) => sendWith(undefined, note(tx, 'b')));
    expect(await listNotes()).toEqual(['b']);
  });

  it('refuses statements that come after its end', async () => {
    let late: Statements | undefined;
    await pipelinedTransaction(db, LIMITS, async (tx) => {
      late = tx;
      return sendWith(undefined);
    });
    expect(() => late?.raw('SELECT 1')).toThrow('The transaction has ended.');
  });

  it('is unavailable when a statement takes longer than it may', async () => {
    const failed = pipelinedTransaction(db, { ...LIMITS, statementMs: 50 }, async (tx) =>
      sendWith(undefined, tx.raw('SELECT pg_sleep(?)', [30])),
    );
    await expect(failed).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('a statement that is prepared once', () => {
  const ADD_NOTES = preparedOnce(
    'add-notes',
    'INSERT INTO notes (text) SELECT * FROM unnest(?::text[]) RETURNING text',
  );

  it('is parsed and planned once for a connection, and does the same each time', async () => {
    for (let time = 0; time < 8; time += 1) {
      const added = await pipelinedTransaction(db, LIMITS, async (tx) => {
        const { rows } = await tx.raw(ADD_NOTES, [[`note ${time}`]]);
        return sendWith(rows);
      });
      expect(added).toEqual([{ text: `note ${time}` }]);
    }
    const { rows } = await db.raw(
      "SELECT generic_plans > 0 AS is_kept FROM pg_prepared_statements WHERE name = 'add-notes'",
    );
    expect(rows).toEqual([{ is_kept: true }]);
  });

  it('has a name of its own', () => {
    expect(() => preparedOnce('add-notes', 'SELECT 1')).toThrow('add-notes');
  });

  it('works again after a transaction that failed before it was prepared', async () => {
    const SPEAK = preparedOnce('speak', 'SELECT ?::text AS word');
    const failed = pipelinedTransaction(db, LIMITS, async (tx) =>
      sendWith(undefined, tx.raw('SELECT 1 / 0'), tx.raw(SPEAK, ['lost'])),
    );
    await expect(failed).rejects.toMatchObject({ code: '22012' });
    const spoken = await pipelinedTransaction(db, LIMITS, async (tx) => {
      const [first, second] = await Promise.all([tx.raw(SPEAK, ['a']), tx.raw(SPEAK, ['b'])]);
      return sendWith([first.rows, second.rows]);
    });
    expect(spoken).toEqual([[{ word: 'a' }], [{ word: 'b' }]]);
  });

  it('is asked of other transactions like any statement', async () => {
    const added: { rows: object[] } = await db.raw(ADD_NOTES, [['a']]);
    expect(added.rows).toEqual([{ text: 'a' }]);
  });
});

describe('a pipelined snapshot', () => {
  it('reads everything as it was at one moment, and tells a mapping that fails', async () => {
    await note(db, 'first');
    const count = 'SELECT count(*)::int AS notes FROM notes';
    const other = createDb(database.connection, 1);
    const read = await pipelinedSnapshot(db, 5_000, async (tx) => {
      const sleeping = tx.raw('SELECT pg_sleep(0.2), (SELECT count(*)::int FROM notes) AS notes');
      const [before, , after] = await Promise.all([
        sleeping,
        note(other, 'written meanwhile'),
        tx.raw(count),
      ]);
      return [before.rows[0]?.notes, after.rows[0]?.notes];
    });
    await other.destroy();
    expect(read).toEqual([1, 1]);
    expect(await listNotes()).toHaveLength(2);
    const failure = new Error('cannot be mapped');
    const failing = pipelinedSnapshot(db, 5_000, async (tx) => {
      await tx.raw(count);
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(await listNotes()).toHaveLength(2);
  });

  it('writes nothing, and leaves the connection to others when a statement fails', async () => {
    const writing = pipelinedSnapshot(db, 5_000, async (tx) => note(tx, 'a'));
    await expect(writing).rejects.toThrow('read-only transaction');
    const broken = pipelinedSnapshot(db, 5_000, async (tx) => {
      await Promise.all([tx.raw('SELECT 1'), tx.raw('SELECT nothing')]);
    });
    await expect(broken).rejects.toThrow('"nothing" does not exist');
    expect(await listNotes()).toEqual([]);
    await note(db, 'b');
    expect(await listNotes()).toEqual(['b']);
  });

  it('is given up when it takes too long', async () => {
    const slow = pipelinedSnapshot(db, 100, async (tx) => tx.raw('SELECT pg_sleep(60)'));
    await expect(slow).rejects.toThrow(/terminated/i);
    expect(await listNotes()).toEqual([]);
  });
});
