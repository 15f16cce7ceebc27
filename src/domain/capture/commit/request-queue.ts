import type { PreparedEvent } from './prepared-event.ts';

/** The events of one capture request, which are committed or refused together. */
export interface CaptureRequest {
  readonly events: readonly PreparedEvent[];
  /** What `countCharacters` says of them. */
  readonly characters: number;
  readonly addedAt: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface RequestQueueOptions {
  readonly batchMaxEvents: number;
  readonly batchMaxCharacters: number;
}

/** Requests in their order of arrival, and how much they are together. */
export interface RequestQueue {
  push(request: CaptureRequest): void;
  /** When the request that waits longest came; null when none waits. */
  oldestAddedAt(): number | null;
  /** How many events wait. */
  countEvents(): number;
  /** Whether a batch would not get any fuller by waiting. */
  isBatchFull(): boolean;
  /** The next requests for one commit: at least one, and none of them split. */
  takeBatch(): readonly CaptureRequest[];
}

/** An empty queue whose batches respect both limits, unless a single request is larger. */
export function createRequestQueue(options: RequestQueueOptions): RequestQueue {
  const { batchMaxEvents, batchMaxCharacters } = options;
  let waiting: CaptureRequest[] = [];
  let waitingEvents = 0;
  let waitingCharacters = 0;

  function countBatch(): number {
    let events = 0;
    let characters = 0;
    let count = 0;
    for (const request of waiting) {
      events += request.events.length;
      characters += request.characters;
      if (count > 0 && (events > batchMaxEvents || characters > batchMaxCharacters)) break;
      count += 1;
    }
    return count;
  }

  return {
    push(request) {
      waiting.push(request);
      waitingEvents += request.events.length;
      waitingCharacters += request.characters;
    },
    oldestAddedAt: () => waiting[0]?.addedAt ?? null,
    countEvents: () => waitingEvents,
    isBatchFull: () => waitingEvents >= batchMaxEvents || waitingCharacters >= batchMaxCharacters,
    takeBatch() {
      const count = countBatch();
      const batch = waiting.slice(0, count);
      waiting = waiting.slice(count);
      for (const { events, characters } of batch) {
        waitingEvents -= events.length;
        waitingCharacters -= characters;
      }
      return batch;
    },
  };
}

/** About how much memory the events take; counting bytes would cost more than it tells. */
export function countCharacters(events: readonly PreparedEvent[]): number {
  let characters = 0;
  for (const { propertiesJson } of events) characters += propertiesJson.length;
  return characters;
}
