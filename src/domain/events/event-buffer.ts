import { isDatabaseOutage, toDomainError } from '../database/database-error.ts';
import type { Db, Tx } from '../database/db.ts';
import { unavailable } from '../errors.ts';
import { CaptureError } from './capture-error.ts';
import type { CaptureEvent } from './capture-event.ts';
import { ensurePartitions, toDay } from './event-partitions.ts';
import { type PreparedEvent, prepareEvents, writeEvents } from './events-writes.ts';

const DEFAULT_FLUSH_AFTER_MS = 5;
const DEFAULT_FLUSH_MAX_EVENTS = 1_000;
const DEFAULT_BUFFER_MAX_EVENTS = 20_000;

/** The day after is made as well, so that midnight finds its partition ready. */
const PARTITION_DAYS = 2;

/** How often a commit that lost a deadlock or a serialisation race is tried in all. */
const COMMIT_ATTEMPTS = 3;

/** Lost races: the same statements will succeed when they are simply run again. */
const RETRIABLE_SQLSTATES = new Set(['40001', '40P01']);

/** SQLSTATE classes that blame the data: bad values, broken constraints, exceeded limits. */
const DATA_SQLSTATES = /^(?:22|23|54)/;

/** The two calls of a logger that the buffer makes. */
export interface EventBufferLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EventBufferOptions {
  readonly db: Db;
  /** How long the first event of a commit waits for others. */
  readonly flushAfterMs?: number;
  /** From this many events on a commit starts at once; a single request is never split. */
  readonly flushMaxEvents?: number;
  /** While this many events wait, no further request is let in. */
  readonly bufferMaxEvents?: number;
  /** Told inside the transaction: a new group type changes what the project's flags can refer to. */
  readonly onGroupTypesAdded: (projectId: number, tx: Tx) => Promise<void>;
  readonly log: EventBufferLog;
  /** Milliseconds of any steady clock. */
  readonly now?: () => number;
}

export interface EventBuffer {
  /**
   * Resolves when the events are committed. Rejects with `unavailable` when the database does not
   * answer, the buffer is full or closed, and with `CaptureError` when the events themselves cannot
   * be stored.
   */
  add(projectId: number, events: readonly CaptureEvent[]): Promise<void>;
  /** Events that were added and are not yet committed or refused. */
  depth(): number;
  /** Refuses new events and resolves when all earlier ones are committed or refused. */
  close(): Promise<void>;
}

interface Request {
  readonly events: readonly PreparedEvent[];
  readonly addedAt: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the events of concurrent requests and commits them together, one transaction at a time:
 * the cost of a durable commit is shared, and each project's events keep their order of arrival.
 */
export function createEventBuffer(options: EventBufferOptions): EventBuffer {
  const { flushAfterMs = DEFAULT_FLUSH_AFTER_MS, now = () => performance.now() } = options;
  const { flushMaxEvents = DEFAULT_FLUSH_MAX_EVENTS } = options;
  const { bufferMaxEvents = DEFAULT_BUFFER_MAX_EVENTS } = options;
  const commit = createCommit(options);
  let queue: Request[] = [];
  let queuedEvents = 0;
  let committingEvents = 0;
  let isClosed = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  function schedule(): void {
    const first = queue[0];
    if (running !== null || first === undefined) return;
    const waitMs = first.addedAt + flushAfterMs - now();
    if (isClosed || waitMs <= 0 || queuedEvents >= flushMaxEvents) {
      start();
    } else {
      timer ??= setTimeout(start, waitMs);
    }
  }

  function start(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (running !== null || queue.length === 0) return;
    const batch = takeBatch();
    running = commit(batch).finally(() => {
      committingEvents = 0;
      running = null;
      schedule();
    });
  }

  function takeBatch(): readonly Request[] {
    let end = 0;
    for (const { events } of queue) {
      if (end > 0 && committingEvents + events.length > flushMaxEvents) break;
      committingEvents += events.length;
      end += 1;
    }
    const batch = queue.slice(0, end);
    queue = queue.slice(end);
    queuedEvents -= committingEvents;
    return batch;
  }

  return {
    add(projectId, events) {
      if (isClosed) return Promise.reject(unavailable('The service is shutting down.', undefined));
      if (queuedEvents + committingEvents >= bufferMaxEvents) {
        const detail = 'The event buffer is full. Please try again shortly.';
        return Promise.reject(unavailable(detail, undefined));
      }
      const prepared = prepareEvents(projectId, events);
      if (prepared.length === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        queue.push({ events: prepared, addedAt: now(), resolve, reject });
        queuedEvents += prepared.length;
        schedule();
      });
    },
    depth: () => queuedEvents + committingEvents,
    async close() {
      isClosed = true;
      schedule();
      while (running !== null) await running;
    },
  };
}

/** Commits requests together and settles each of them; it never rejects itself. */
function createCommit({ db, onGroupTypesAdded, log }: EventBufferOptions) {
  const readyDays = new Set<string>();

  async function preparePartitions(events: readonly PreparedEvent[]): Promise<void> {
    for (const { receivedAt } of events) {
      const day = toDay(receivedAt);
      if (readyDays.has(day)) continue;
      await ensurePartitions(db, receivedAt, PARTITION_DAYS);
      readyDays.add(day);
    }
  }

  async function write(requests: readonly Request[]): Promise<void> {
    const events = requests.flatMap((request) => request.events);
    await preparePartitions(events);
    await db.transaction(async (tx) => {
      const { projectIdsWithNewTypes } = await writeEvents(tx, events);
      for (const projectId of projectIdsWithNewTypes) await onGroupTypesAdded(projectId, tx);
    });
  }

  async function writeWithRetries(requests: readonly Request[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await write(requests);
      } catch (error) {
        if (attempt >= COMMIT_ATTEMPTS || !isRetriable(error)) throw error;
        log.warn({ err: error, attempt }, 'a commit of events lost a race and is tried again');
      }
    }
  }

  return async function commit(requests: readonly Request[]): Promise<void> {
    try {
      await writeWithRetries(requests);
      for (const request of requests) request.resolve();
    } catch (error) {
      const isOutage = isDatabaseOutage(error);
      if (isOutage || requests.length === 1) {
        log.error({ err: error, requests: requests.length }, 'events could not be stored');
        const reason = isOutage ? toDomainError(error) : toRefusal(error);
        for (const request of requests) request.reject(reason);
        return;
      }
      // One request's data spoils the transaction of all: halve until the guilty one is alone.
      const middle = Math.ceil(requests.length / 2);
      await commit(requests.slice(0, middle));
      await commit(requests.slice(middle));
    }
  };
}

function toRefusal(error: unknown): unknown {
  if (!DATA_SQLSTATES.test(readSqlState(error))) return error;
  return new CaptureError(400, 'invalid event could not be processed', error);
}

function isRetriable(error: unknown): boolean {
  return RETRIABLE_SQLSTATES.has(readSqlState(error));
}

function readSqlState(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
