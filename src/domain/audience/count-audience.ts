import pg, { type ClientBase, type QueryArrayConfig } from 'pg';
import { Refusal } from '../common/refusal.ts';
import { toRefusal } from '../database/database-error.ts';
import type { Db } from '../database/db.ts';
import { cutConnection, guardedTransaction } from '../database/guarded-transaction.ts';
import { RequestView } from '../evaluation/match/request-view.ts';
import type { PreparedCondition, Snapshot } from '../evaluation/model/snapshot.ts';
import { listFallbackKeys } from '../evaluation/prepare/derived-properties.ts';
import { listValueFilters } from './audience-filters.ts';
import { conditionSql } from './condition-sql.ts';
import { createDecider, type Decider } from './decide-rows.ts';
import { renderSql, type Sql, sql } from './sql.ts';
import { subjectRows } from './subject-rows.ts';

/** How many persons or groups there are, and how many of them a condition matches. */
export interface Audience {
  readonly total: number;
  readonly affected: number;
}

export interface CountOptions {
  readonly now: Date;
  readonly timeoutMs: number;
  /** Ends the count early; it then rejects. */
  readonly signal?: AbortSignal;
  /** How much longer the server may take to say that the time is over. */
  readonly graceMs?: number;
}

const GRACE_MS = 5_000;
const CANCEL_LIMITS = { lockMs: 1_000, statementMs: 2_000, totalMs: 3_000 };

/** A statement that took longer than it may, or was interrupted. */
const QUERY_CANCELED = '57014';

/**
 * Counts whom a condition matches, exactly, from what is stored. The rollout percentage does not
 * matter. What SQL cannot decide as the engine would is fetched, equal rows together, and decided by
 * the engine. Throws `UncountableFilters`, and `unavailable` when it takes too long.
 */
export async function countAudience(
  db: Db,
  snapshot: Snapshot,
  condition: PreparedCondition,
  options: CountOptions,
): Promise<Audience> {
  const filters = listValueFilters(condition, snapshot);
  const view = new RequestView(snapshot, SUBJECTLESS, options.now);
  const needsDistinctId = filters.some(
    (each) => each.kind === 'person' && each.key === 'distinct_id',
  );
  const keys = [...new Set(filters.flatMap((each) => keysOf(each)))];
  const { projectId } = snapshot;
  const { groupTypeIndex } = condition;
  const rows = subjectRows({ projectId, groupTypeIndex, keys, needsDistinctId });
  const predicate = conditionSql(condition, snapshot, view, rows.storedValue);
  const decider = createDecider(condition, snapshot, options.now, {
    keys,
    storedValue: rows.storedValue,
    staticCohortIds: condition.reads.staticCohortIds,
    needsCreatedAt: condition.reads.needsPersonCreatedAt,
    needsDistinctId,
  });
  const deadline = Date.now() + options.timeoutMs;
  try {
    return await readConsistently(db, options, async (client) => {
      const counts = await countVerdicts(client, predicate, rows.from);
      const audience = { total: counts.total, affected: counts.matched };
      if (counts.undecided === 0) return audience;
      await limitStatements(client, deadline - Date.now());
      const decided = await countDecided(client, decider, predicate, rows.from);
      return { ...audience, affected: counts.matched + decided };
    });
  } catch (error) {
    throw explain(error, options.timeoutMs);
  }
}

/** An empty request, for a view that is only used as a clock. */
const SUBJECTLESS = {
  distinctId: '',
  deviceId: null,
  anonDistinctId: null,
  personProperties: {},
  groups: {},
  groupProperties: {},
  runtime: 'all',
  evaluationContexts: [],
  stored: null,
} as const;

function keysOf(filter: ReturnType<typeof listValueFilters>[number]): readonly string[] {
  if (filter.kind === 'person_created_at') return [];
  return filter.kind === 'person' ? [filter.key, ...listFallbackKeys(filter.key)] : [filter.key];
}

/** Runs reads that all see the same moment, on one connection, within the time that is left. */
async function readConsistently<Result>(
  db: Db,
  { timeoutMs, signal, graceMs = GRACE_MS }: CountOptions,
  read: (client: ClientBase) => Promise<Result>,
): Promise<Result> {
  const client: ClientBase = await db.client.acquireConnection();
  const timer = setTimeout(() => cutConnection(client), timeoutMs + graceMs);
  let stopInterrupting = async () => {};
  try {
    // Compiling the statement would take longer than running it.
    await client.query(
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL jit = off; ' +
        "SET LOCAL extra_float_digits = 1; SET LOCAL work_mem = '32MB'",
    );
    if (signal !== undefined) stopInterrupting = await interruptOn(db, client, signal);
    await limitStatements(client, timeoutMs);
    const result = await read(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      // The connection is gone, and the transaction with it.
    });
    throw error;
  } finally {
    clearTimeout(timer);
    await stopInterrupting();
    await db.client.releaseConnection(client);
  }
}

async function limitStatements(client: ClientBase, ms: number): Promise<void> {
  await client.query(`SET LOCAL statement_timeout = ${Math.max(1, Math.round(ms))}`);
}

/**
 * Cancels the running statement when the signal says so. Returns how to stop that: a cancellation
 * that is under way is awaited first, so that it cannot hit the next user of the connection.
 */
async function interruptOn(
  db: Db,
  client: ClientBase,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  signal.throwIfAborted();
  let cancelled: Promise<unknown> = Promise.resolve();
  const cancel = () => {
    cancelled = guardedTransaction(db, CANCEL_LIMITS, async (tx) => {
      await tx.raw('SELECT pg_cancel_backend(?)', [rows[0]?.pid ?? 0]);
    }).catch(() => {
      // It may still arrive: the connection must not be used again.
      cutConnection(client);
    });
  };
  signal.addEventListener('abort', cancel, { once: true });
  return async () => {
    signal.removeEventListener('abort', cancel);
    await cancelled;
  };
}

async function countVerdicts(client: ClientBase, predicate: Sql, from: Sql) {
  const { text, values } = renderSql(
    sql`SELECT verdict, count(*) AS n FROM (SELECT ${predicate} AS verdict FROM ${from}) v GROUP BY verdict`,
  );
  const found = await client.query<{ verdict: boolean | null; n: number }>(text, values);
  const of = (verdict: boolean | null) => found.rows.find((row) => row.verdict === verdict)?.n ?? 0;
  const [matched, missed, undecided] = [of(true), of(false), of(null)];
  return { total: matched + missed + undecided, matched, undecided };
}

/** Streams the rows that SQL cannot decide through the engine, without buffering them. */
async function countDecided(
  client: ClientBase,
  decider: Decider,
  predicate: Sql,
  from: Sql,
): Promise<number> {
  const { text, values } = renderSql(
    sql`SELECT ${decider.columns}, count(*) AS n FROM ${from} WHERE ${predicate} IS NULL GROUP BY 1, 2, 3, 4`,
  );
  return new Promise((resolve, reject) => {
    let matched = 0;
    let failure: Error | null = null;
    const config: QueryArrayConfig = { text, values, rowMode: 'array' };
    const query = client.query(new pg.Query(config));
    query.on('row', (row: unknown) => {
      try {
        matched += decider.countMatches(row);
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(String(error));
      }
    });
    query.on('error', reject);
    query.on('end', () => {
      if (failure === null) resolve(matched);
      else reject(failure);
    });
  });
}

function explain(error: unknown, timeoutMs: number): unknown {
  const isLate = error instanceof Error && 'code' in error && error.code === QUERY_CANCELED;
  if (!isLate) return toRefusal(error);
  return new Refusal(
    'unavailable',
    `Counting took longer than ${Math.round(timeoutMs / 1000)} seconds. Please try again later, or ` +
      'with fewer filters.',
    { cause: error },
  );
}
