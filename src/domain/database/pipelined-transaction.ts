import type { Knex } from 'knex';
import pg from 'pg';
import { unavailable } from '../common/refusal.ts';
import { isStatementTimeout } from './database-error.ts';
import type { Db } from './db.ts';
import { cutConnection, limitSettings, type TransactionLimits } from './guarded-transaction.ts';

/**
 * What can be asked of a transaction of either kind: Knex's own, and a pipelined one. `?` stands for
 * a binding. Functions that capture calls take this, and no query builder.
 */
export interface Statements {
  raw(sql: string, bindings?: readonly Knex.RawBinding[]): PromiseLike<pg.QueryResult>;
}

interface PreparedStatement {
  readonly name: string;
  readonly text: string;
}

const preparedStatements = new Map<string, PreparedStatement>();

const preparedNames = new Set<string>();

/**
 * The same statement, which a pipelined transaction has PostgreSQL parse and plan once for each
 * connection and not each time. Its plan stays while tables grow from nothing to millions of rows:
 * what looks anything up has to be written so that only an index can serve it, row by row, that is
 * as `CROSS JOIN LATERAL (... LIMIT 1)`.
 */
export function preparedOnce(name: string, sql: string): string {
  if (preparedNames.has(name)) throw new Error(`Two statements have the name ${name}.`);
  preparedNames.add(name);
  preparedStatements.set(sql, { name, text: numberBindings(sql) });
  return sql;
}

/** A result that is known while statements that belong to it are still under way. */
export interface Sent<Result> {
  readonly result: Result;
  /** Settles when those statements have. They are on their way: nothing more follows them. */
  readonly rest: Promise<unknown>;
}

/** The result with its statements. Whoever waits for the rest hears of a failure, nobody has to. */
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
 * for or not, fails the transaction. Limits and `unavailable` are those of `guardedTransaction`.
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
  const connection: unknown = await db.client.acquireConnection();
  const timer = setTimeout(() => cutConnection(connection), totalMs);
  try {
    if (!(connection instanceof pg.Client)) throw new Error('The connection is none of pg.');
    return await run(db, connection, begin, work);
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw unavailable('The database is busy. Please try again shortly.', error);
  } finally {
    clearTimeout(timer);
    await db.client.releaseConnection(connection);
  }
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
    // Heard of here, whether or not the work waits for it.
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
        const prepared = preparedStatements.get(sql);
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
  const limiting = Object.entries(limitSettings(limits)).map(([name, ms]) => `${name} = ${ms}`);
  const settings = [...limiting, ...PLANNING, KEEP_PLANS].map((setting) => `SET LOCAL ${setting}`);
  return { sql: ['BEGIN', ...settings].join('; '), keepsPlans: true };
}

/** The statement as PostgreSQL takes it: `$1` for the first `?`, and so on. */
function numberBindings(sql: string): string {
  let count = 0;
  return sql.replace(/\?/g, () => {
    count += 1;
    return `$${count}`;
  });
}
