import pg, { type ClientBase, type QueryArrayConfig } from 'pg';
import { Refusal } from '../common/refusal.ts';
import { limitStatements, readCancellably } from '../database/cancellable-read.ts';
import { toRefusal } from '../database/database-error.ts';
import type { Db } from '../database/db.ts';
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

/** Compiling the statement would take longer than running it. */
const SETTINGS = ['jit = off', 'extra_float_digits = 1', "work_mem = '32MB'"];

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
    return await readCancellably(db, { ...options, settings: SETTINGS }, async (client) => {
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
