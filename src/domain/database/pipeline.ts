import type { Knex } from 'knex';
import type pg from 'pg';
import { withConnection, withDeadline } from './connection.ts';
import type { Db } from './db.ts';
import type { TransactionLimits } from './deadlines.ts';
import { findPrepared, numberBindings } from './prepared-statements.ts';
import { limitSettings, tellUnavailable } from './transaction.ts';

/**
 * What can be asked of a transaction of either kind: Knex's own, and a pipelined one. `?` stands for
 * a binding. Functions that capture calls take this, and no query builder.
 */
export interface Statements {
  raw(sql: string, bindings?: readonly Knex.RawBinding[]): PromiseLike<pg.QueryResult>;
}

/** A result that is known while statements that belong to it are still under way. */
export interface Sent<Result> {
  readonly result: Result;
  /** Resolves when those statements are done. They are on their way: nothing more follows them. */
  readonly rest: Promise<unknown>;
}

/** The result with its statements. A failure rejects `rest`, which nobody has to wait for. */
export function sendWith<Result>(
  result: Result,
  ...statements: readonly PromiseLike<unknown>[]
): Sent<Result> {
  const rest = Promise.all(statements);
  rest.catch(() => {});
  return { result, rest };
}

/**
 * A transaction in which only results that are needed cost a round trip: its begin goes with the
 * first statements of the work, and its end with the last ones. Any statement that fails, waited
 * for or not, fails the transaction. Limits and `unavailable` are those of `transaction`.
 *
 *     work                       sent                                 round trips
 *     await tx.raw(A)            BEGIN; limits | A               ───>  1
 *                                                               <───
 *     await both of B and C      B | C                           ───>  2
 *                                                               <───
 *     return sendWith(x, D)      D | COMMIT                      ───>  3
 *                                                               <───
 */
export async function pipelinedTransaction<Result>(
  db: Db,
  limits: TransactionLimits,
  work: (tx: Statements) => Promise<Sent<Result>>,
): Promise<Result> {
  return onConnection(db, limits.totalMs, beginWithin(limits), work);
}

/**
 * Reads everything as it was at one moment, in one round trip: all statements have to be sent at
 * once, none of them after an answer. Nothing can be written. Takes at most so long, or throws.
 */
export async function pipelinedSnapshot<Result>(
  db: Db,
  totalMs: number,
  read: (tx: Statements) => Promise<Result>,
): Promise<Result> {
  const sql = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
  const { reading } = await onConnection(db, totalMs, { sql, keepsPlans: false }, async (tx) => {
    const sent = read(tx);
    return sendWith({ reading: sent }, sent);
  });
  return reading;
}

async function onConnection<Result>(
  db: Db,
  totalMs: number,
  begin: Begin,
  work: (tx: Statements) => Promise<Sent<Result>>,
): Promise<Result> {
  return tellUnavailable(() =>
    withConnection(db, (client) =>
      withDeadline(client, totalMs, () => run(db, client, begin, work)),
    ),
  );
}

async function run<Result>(
  db: Db,
  client: pg.Client,
  begin: Begin,
  work: (tx: Statements) => Promise<Sent<Result>>,
): Promise<Result> {
  const started: Promise<pg.QueryResult>[] = [];
  const failures: unknown[] = [];
  let isEnding = false;
  let { keepsPlans } = begin;
  const gather = createGathering(client);
  const start = (query: string | pg.QueryConfig): Promise<pg.QueryResult> => {
    gather();
    const result = client.query(query);
    // As Knex tells of its own statements.
    db.client.emit('query', { sql: typeof query === 'string' ? query : query.text });
    // Noted here, whether or not the work waits for it.
    result.catch((error: unknown) => failures.push(error));
    started.push(result);
    return result;
  };
  try {
    const begun = start(begin.sql);
    const { result, rest } = await work({
      raw(sql, bindings = []) {
        if (isEnding) throw new Error('The transaction has ended.');
        const values = [...bindings];
        const prepared = findPrepared(sql);
        if (keepsPlans !== (prepared !== undefined)) {
          keepsPlans = !keepsPlans;
          void start(`SET LOCAL ${keepsPlans ? KEEP_PLANS : FIT_PLANS}`);
        }
        if (prepared === undefined) return start({ text: numberBindings(sql), values });
        return start({ name: prepared.name, text: prepared.text, values });
      },
    });
    isEnding = true;
    const end = start('COMMIT');
    await Promise.all([begun, rest, ...started]);
    // After a failed statement PostgreSQL answers a commit with a rollback, and not with an error.
    if ((await end).command !== 'COMMIT') throw new Error('The transaction was rolled back.');
    return result;
  } catch (error) {
    if (!isEnding) void start('ROLLBACK');
    isEnding = true;
    await Promise.allSettled(started);
    // What came after the first failure failed only because of it.
    throw failures[0] ?? error;
  }
}

/**
 * Keeps what is written from now on until the turn ends: a write for each statement would wake the
 * server for each of them.
 */
function createGathering({ connection: { stream } }: pg.Client): () => void {
  let isGathering = false;
  return () => {
    if (isGathering) return;
    isGathering = true;
    stream.cork();
    process.nextTick(() => {
      isGathering = false;
      stream.uncork();
    });
  };
}

/** A plan that was made while a table was empty would go on reading all of it. */
const PLANNING = ['enable_seqscan = off', 'jit = off'];

/**
 * A statement that was prepared once keeps the plan that fits any arguments. Others are fitted to
 * theirs: how many rows a list has decides how lists are joined.
 */
const KEEP_PLANS = 'plan_cache_mode = force_generic_plan';
const FIT_PLANS = 'plan_cache_mode = auto';

interface Begin {
  readonly sql: string;
  readonly keepsPlans: boolean;
}

/** Several commands in one message, since none of them has a result that anybody waits for. */
function beginWithin(limits: TransactionLimits): Begin {
  const limiting = limitSettings(limits).map(([name, ms]) => `${name} = ${ms}`);
  const settings = [...limiting, ...PLANNING, KEEP_PLANS].map((setting) => `SET LOCAL ${setting}`);
  return { sql: ['BEGIN', ...settings].join('; '), keepsPlans: true };
}
