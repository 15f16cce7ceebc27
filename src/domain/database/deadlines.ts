/**
 * How long anything at the database may take: every deadline of Burgee, in one place and in
 * milliseconds. Whoever opens a connection or a transaction names an entry; tests pass shorter ones.
 *
 *     connectMs, acquireMs            the pool gives up             the caller gets an outage
 *     lockMs, ..statementMs           the server cancels it         `unavailable`
 *     totalMs, ..answerMs, ..graceMs  `withDeadline` cuts the       an outage
 *                                     connection, which is lost
 *
 * An outage is what `isDatabaseOutage` recognises, and `toRefusal` makes it `unavailable` as well.
 * Two waits have no entry: single queries of Knex once they have a connection, and `UNLIMITED`.
 */

/** How long a transaction may take, and parts of it. `Infinity` leaves a part without a bound. */
export interface TransactionLimits {
  /** Waiting for one lock that somebody else holds. */
  readonly lockMs: number;
  /** One statement, as the server measures it. */
  readonly statementMs: number;
  /** All of it, even when the server does not answer any more. */
  readonly totalMs: number;
}

const UNLIMITED: TransactionLimits = {
  lockMs: Number.POSITIVE_INFINITY,
  statementMs: Number.POSITIVE_INFINITY,
  totalMs: Number.POSITIVE_INFINITY,
};

/** How long the pool waits: for a server to accept a connection, and for a connection to be free. */
export interface PoolDeadlines {
  readonly connectMs: number;
  readonly acquireMs: number;
}

export const POOL_DEADLINES: PoolDeadlines = { connectMs: 3_000, acquireMs: 5_000 };

/** The limits of each kind of transaction. */
export const LIMITS = {
  /** Changes of configuration, through the API or the command line, and what bootstraps a project. */
  configuration: UNLIMITED,
  /** Changes of persons, groups and memberships that somebody asks for one by one. */
  persons: UNLIMITED,
  /** Identifiers that an evaluation stores for experience continuity. */
  continuity: UNLIMITED,
  /** Jobs and upkeep, for which nobody waits. */
  background: UNLIMITED,
  /** Migrations, which may rebuild an index of any size. */
  migration: UNLIMITED,
  /** Several reads of one state of the database. */
  consistentRead: UNLIMITED,
  /**
   * A commit of events, and the partitions that it needs. Together shorter than what clients and
   * proxies wait. Within the last of them even a commit of 100,000 events is through.
   */
  capture: { lockMs: 5_000, statementMs: 10_000, totalMs: 20_000 },
  /** A question about events; a rare flag is looked for in all of them. */
  eventList: { lockMs: 5_000, statementMs: 15_000, totalMs: 20_000 },
  /** Dropping a partition needs the whole table for a moment; events do not wait long for it. */
  partitionDrop: { ...UNLIMITED, lockMs: 2_000 },
  /** Cancelling a statement of another connection. */
  cancellation: { lockMs: 1_000, statementMs: 2_000, totalMs: 3_000 },
} satisfies Record<string, TransactionLimits>;

/** A project whose locks somebody else holds is waited for so long: all others wait meanwhile. */
export const BLOCKED_PROJECT_LOCK_MS = 250;

/** Looking stored data up for evaluations, from sending the query to its last row. */
export const STORED_DATA_ANSWER_MS = 5_000;

/** Loading a project's definitions; far more than ten thousand flags take. */
export const LOAD_PROJECT_ANSWER_MS = 60_000;

/** A count of persons or groups that somebody waits for. */
export const COUNT_STATEMENT_MS = 15_000;

/** A count of a cohort, in the background. */
export const COHORT_COUNT_STATEMENT_MS = 120_000;

/** How much longer than its statements may take a cancellable read keeps its connection. */
export const CANCELLABLE_READ_GRACE_MS = 5_000;
