import { unavailable } from '../../common/refusal.ts';
import { isLostRace, isOutage, toRefusal } from '../../database/database-error.ts';
import type { Db } from '../../database/db.ts';
import { LIMITS, type TransactionLimits } from '../../database/deadlines.ts';
import { pipelinedTransaction, type Statements } from '../../database/pipeline.ts';
import { transaction } from '../../database/transaction.ts';
import { ensurePartitions, toDay } from '../../events/event-partitions.ts';
import type { RefusedMerge } from '../../persons/write/persons-writes.ts';
import { FullProjects } from '../../usage/flags/full-projects.ts';
import { invalidCapture } from '../parse/capture-refusal.ts';
import { isRepeat } from './event-statements.ts';
import { sendEvents } from './events-writes.ts';
import type { PreparedEvent } from './prepared-event.ts';
import type { CaptureRequest } from './request-queue.ts';

/** The day after is made as well, so that midnight finds its partition ready. */
const PARTITION_DAYS = 2;

/** How often a commit that lost a deadlock or a serialisation race is tried in all. */
const COMMIT_ATTEMPTS = 3;

/** Clients repeat themselves in numbers: for so long after one did, others are reckoned with. */
const REPEATS_MS = 30_000;

/** SQLSTATE classes that blame the data: bad values, broken constraints, exceeded limits. */
const DATA_SQLSTATES = /^(?:22|23|54)/;

/** The two calls of a logger that committing makes. */
export interface CommitLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface CommitOptions {
  readonly db: Db;
  /**
   * Told inside the transaction: a new group type changes what the project's flags can refer to.
   * What it returns is done after the commit and before the requests are told.
   */
  readonly onGroupTypesAdded: (
    projectId: number,
    tx: Statements,
  ) => Promise<(() => Promise<void>) | undefined>;
  /** Told after the commit of each merge of two persons that was asked for and did not happen. */
  readonly onMergeRefused?: (refused: RefusedMerge) => void;
  readonly limits?: TransactionLimits;
  readonly log: CommitLog;
  /** Milliseconds of any steady clock. */
  readonly now?: () => number;
}

/** How one request ended: `refusal` is undefined when its events are committed. */
export interface RequestOutcome {
  readonly request: CaptureRequest;
  readonly refusal?: unknown;
}

/**
 * Commits requests together and tells how each of them ended; never rejects. Locks are waited for
 * as long as the limits allow, and not longer than `lockMs`.
 */
export type CommitRequests = (
  requests: readonly CaptureRequest[],
  lockMs: number,
) => Promise<RequestOutcome[]>;

/**
 * Commits all requests in one transaction, so that they share its cost. How it goes on when that fails:
 *
 * 1. An event that is stored already fails the plain claim of the uuids. The transaction is run again
 *    with a claim that passes such events over, in the time that is left; for `REPEATS_MS` later ones
 *    begin with that claim.
 * 2. A deadlock or a serialisation race: the same again, three times in all.
 * 3. An outage, a lock or a statement that takes too long: every request is refused as `unavailable`.
 * 4. Anything else is probably the data of one request: the two halves are committed on their own, and
 *    so on, until that request is alone. It is refused with the reason, the others are stored.
 *
 * `writeEvents` draws the transaction itself. Partitions for the days of receipt are made before it.
 */
export function createCommit(options: CommitOptions): CommitRequests {
  const { db, onGroupTypesAdded, onMergeRefused, limits = LIMITS.capture, log } = options;
  const { now = () => performance.now() } = options;
  const readyDays = new Set<string>();
  const fullProjects = new FullProjects();
  let repeatsUntil = Number.NEGATIVE_INFINITY;

  /** In a transaction of their own, once for each day. */
  async function preparePartitions(events: readonly PreparedEvent[]): Promise<void> {
    for (const { receivedAt } of events) {
      const day = toDay(receivedAt);
      if (readyDays.has(day)) continue;
      await transaction(db, limits, (tx) => ensurePartitions(tx, receivedAt, PARTITION_DAYS));
      readyDays.add(day);
    }
  }

  /** Takes all events for new ones, unless some were stored already of late. */
  async function write(events: readonly PreparedEvent[], within: TransactionLimits): Promise<void> {
    await preparePartitions(events);
    const startedAt = now();
    const mayRepeat = startedAt < repeatsUntil;
    try {
      return await tryWrite(events, within, mayRepeat);
    } catch (error) {
      if (mayRepeat || !isRepeat(error)) throw error;
    }
    repeatsUntil = now() + REPEATS_MS;
    const leftMs = Math.max(1, within.totalMs - (now() - startedAt));
    await tryWrite(events, { ...within, totalMs: leftMs }, true);
  }

  async function tryWrite(
    events: readonly PreparedEvent[],
    within: TransactionLimits,
    mayRepeat: boolean,
  ): Promise<void> {
    const refusedMerges: RefusedMerge[] = [];
    const afterwards: ((() => Promise<void>) | undefined)[] = [];
    await pipelinedTransaction(db, within, (tx) =>
      sendEvents(tx, events, {
        onGroupTypesAdded: async (projectId) => {
          afterwards.push(await onGroupTypesAdded(projectId, tx));
        },
        onMergeRefused: (refused) => refusedMerges.push(refused),
        mayRepeat,
        fullProjects,
      }),
    );
    for (const refused of refusedMerges) onMergeRefused?.(refused);
    for (const act of afterwards) {
      if (act !== undefined) await waitAtMost(limits.lockMs, act());
    }
  }

  async function writeWithRetries(
    events: readonly PreparedEvent[],
    within: TransactionLimits,
  ): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await write(events, within);
      } catch (error) {
        if (attempt >= COMMIT_ATTEMPTS || !isLostRace(error)) throw error;
        log.warn({ err: error, attempt }, 'A commit of events lost a race and is tried again.');
      }
    }
  }

  async function commit(
    requests: readonly CaptureRequest[],
    lockMs: number,
  ): Promise<RequestOutcome[]> {
    try {
      await writeWithRetries(
        requests.flatMap(({ events }) => events),
        { ...limits, lockMs: Math.min(lockMs, limits.lockMs) },
      );
      return requests.map((request) => ({ request }));
    } catch (error) {
      if (requests.length === 1 || isOutage(error)) {
        const fields = { err: error, requests: requests.length };
        if (isOutage(error)) log.warn(fields, 'Events could not be stored for now.');
        else log.error(fields, 'Events could not be stored.');
        const refusal = toCommitRefusal(error);
        return requests.map((request) => ({ request, refusal }));
      }
      const middle = Math.ceil(requests.length / 2);
      const outcomes = await commit(requests.slice(0, middle), lockMs);
      return outcomes.concat(await commit(requests.slice(middle), lockMs));
    }
  }
  return commit;
}

/** The events are committed: what follows may take longer, but nobody waits for it any more. */
async function waitAtMost(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, over]).finally(() => clearTimeout(timer));
}

/** What the request is told: an outage or a race passes, data that cannot be stored never will. */
function toCommitRefusal(error: unknown): unknown {
  if (isOutage(error)) return toRefusal(error);
  if (isLostRace(error)) {
    return unavailable('The events could not be stored now. Please try again shortly.', error);
  }
  if (!DATA_SQLSTATES.test(readSqlState(error))) return error;
  return invalidCapture('invalid event could not be processed', error);
}

function readSqlState(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
