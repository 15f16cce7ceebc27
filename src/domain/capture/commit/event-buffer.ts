import { getHeapStatistics } from 'node:v8';
import { Refusal, unavailable } from '../../common/refusal.ts';
import { runAtOnce, runInSlices } from '../../common/time-slices.ts';
import {
  isDatabaseOutage,
  isLockTimeout,
  isStatementTimeout,
} from '../../database/database-error.ts';
import type { Db } from '../../database/db.ts';
import type { TransactionLimits } from '../../database/deadlines.ts';
import type { CaptureEvent } from '../parse/capture-event.ts';
import { isolateBlockedProjects } from './blocked-projects.ts';
import {
  type CommitLog,
  type CommitOptions,
  createCommit,
  type RequestOutcome,
} from './commit-requests.ts';
import { createCommitTiming } from './commit-timing.ts';
import { type PreparedEvent, prepareEvents } from './prepared-event.ts';
import { type CaptureRequest, countCharacters, createRequestQueue } from './request-queue.ts';

const DEFAULT_FLUSH_AFTER_MS = 5;
const DEFAULT_FLUSH_MAX_EVENTS = 1_000;
const DEFAULT_BUFFER_MAX_EVENTS = 20_000;

/** Far below what one statement can carry. */
const FLUSH_MAX_CHARACTERS = 16 * 1024 * 1024;

/** Few but huge events must not exhaust the memory either. */
const BUFFER_MAX_CHARACTERS = Math.min(256 * 1024 * 1024, getHeapStatistics().heap_size_limit / 4);

/** More events than this are prepared in several turns of the event loop. */
const PREPARED_AT_ONCE = 200;

export interface EventBufferOptions {
  readonly db: Db;
  /** How long the first event of a commit waits for others. */
  readonly flushAfterMs?: number;
  /** From this many events on a commit starts at once; a single request is never split. */
  readonly flushMaxEvents?: number;
  /** While this many events wait or are being committed, no further request is let in. */
  readonly bufferMaxEvents?: number;
  /** Told inside the transaction: a new group type changes what the project's flags can refer to. */
  readonly onGroupTypesAdded: CommitOptions['onGroupTypesAdded'];
  readonly onMergeRefused?: NonNullable<CommitOptions['onMergeRefused']>;
  /** How long a commit may take. */
  readonly limits?: TransactionLimits;
  readonly log: CommitLog;
  /** Milliseconds of any steady clock. */
  readonly now?: () => number;
}

export interface EventBuffer {
  /**
   * Resolves when the events are committed. Rejects with `unavailable` when the database does not
   * answer or the buffer is full or closed, and with another `Refusal` when the events
   * themselves cannot be stored.
   */
  add(projectId: number, events: readonly CaptureEvent[]): Promise<void>;
  /** Events that were added and are not yet committed or refused. */
  depth(): number;
  /** Refuses new events and resolves when all earlier ones are committed or refused. */
  close(): Promise<void>;
}

/** How much is buffered: events that wait or are being committed. */
class BufferRoom {
  readonly #maxEvents: number;
  #characters = 0;
  events = 0;

  constructor(maxEvents: number) {
    this.#maxEvents = maxEvents;
  }

  isFull(): boolean {
    return this.events >= this.#maxEvents || this.#characters >= BUFFER_MAX_CHARACTERS;
  }

  take(events: number, characters: number): void {
    this.events += events;
    this.#characters += characters;
  }

  giveBack(events: number, characters: number): void {
    this.take(-events, -characters);
  }
}

type Caller = Pick<CaptureRequest, 'resolve' | 'reject'>;

/**
 * Collects the events of concurrent requests and commits them together, one transaction at a time:
 * the cost of a durable commit is shared, and events keep their order of arrival.
 */
export function createEventBuffer(options: EventBufferOptions): EventBuffer {
  const { flushAfterMs = DEFAULT_FLUSH_AFTER_MS, now = () => performance.now() } = options;
  const { bufferMaxEvents = DEFAULT_BUFFER_MAX_EVENTS } = options;
  const commit = isolateBlockedProjects(createCommit(options), now);
  const timing = createCommitTiming(flushAfterMs, now);
  const queue = createRequestQueue({
    batchMaxEvents: options.flushMaxEvents ?? DEFAULT_FLUSH_MAX_EVENTS,
    batchMaxCharacters: FLUSH_MAX_CHARACTERS,
  });
  const room = new BufferRoom(bufferMaxEvents);
  let isClosed = false;
  let running: Promise<void> | null = null;
  let answering: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;

  function schedule(): void {
    const addedAt = queue.oldestAddedAt();
    if (running !== null || addedAt === null) return;
    const waitMs = timing.dueAt(addedAt, queue.countEvents()) - now();
    if (isClosed || waitMs <= 0 || queue.isBatchFull()) start();
    else timer ??= setTimeout(start, waitMs);
  }

  function start(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (running !== null) return;
    running = commit(queue.takeBatch()).then((committed) => {
      running = null;
      const answered = committed.reduce((sum, { request }) => sum + request.events.length, 0);
      timing.ended(queue.countEvents() + answered);
      // Whoever waited behind an outage would only wait for the same one again.
      const outage = findOutage(committed);
      const outcomes = outage === null ? committed : committed.concat(refuseWaiting(outage));
      // A commit that waits for nobody is on its way before anybody is told: what callers do next,
      // such as parsing another request, would otherwise keep the database idle.
      schedule();
      answering = answerCallers(outcomes);
    });
  }

  function refuseWaiting(refusal: unknown): RequestOutcome[] {
    const refused: RequestOutcome[] = [];
    while (queue.oldestAddedAt() !== null) {
      refused.push(...queue.takeBatch().map((request) => ({ request, refusal })));
    }
    return refused;
  }

  function requireRoom(): void {
    if (isClosed) throw unavailable('The service is shutting down.', undefined);
    if (room.isFull()) {
      throw unavailable('The event buffer is full. Please try again shortly.', undefined);
    }
  }

  /** Many events are prepared a few milliseconds at a time, so that others are served meanwhile. */
  async function add(projectId: number, events: readonly CaptureEvent[]): Promise<void> {
    requireRoom();
    const preparing = prepareEvents(projectId, events);
    if (events.length <= PREPARED_AT_ONCE) return commitSoon(runAtOnce(preparing));
    const prepared = await runInSlices(preparing);
    requireRoom();
    return commitSoon(prepared);
  }

  function commitSoon(prepared: readonly PreparedEvent[]): Promise<void> {
    if (prepared.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => push(prepared, { resolve, reject }));
  }

  function push(prepared: readonly PreparedEvent[], { resolve, reject }: Caller): void {
    const characters = countCharacters(prepared);
    room.take(prepared.length, characters);
    queue.push({ events: prepared, characters, addedAt: now(), resolve, reject });
    schedule();
  }

  /** Tells the callers how their requests ended, once what is due in this turn has been done. */
  function answerCallers(outcomes: readonly RequestOutcome[]): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(() => {
        for (const { request, refusal } of outcomes) {
          room.giveBack(request.events.length, request.characters);
          if (refusal === undefined) request.resolve();
          else request.reject(refusal);
        }
        resolve();
      });
    });
  }

  return {
    add,
    depth: () => room.events,
    async close() {
      isClosed = true;
      schedule();
      while (running !== null) await running;
      await answering;
    },
  };
}

/** What all of a batch was refused for, if that was an outage of the database. */
function findOutage(outcomes: readonly RequestOutcome[]): Refusal | null {
  const [first] = outcomes;
  const refusal = first?.refusal;
  if (!(refusal instanceof Refusal)) return null;
  // A lock that was not had in time concerns one project.
  if (isLockTimeout(refusal.cause)) return null;
  if (!isDatabaseOutage(refusal.cause) && !isStatementTimeout(refusal.cause)) return null;
  return outcomes.every((outcome) => outcome.refusal === refusal) ? refusal : null;
}
