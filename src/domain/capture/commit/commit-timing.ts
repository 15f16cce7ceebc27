/** From so many events on, a commit is worth its round trips without those who may come back. */
const WORTH_A_COMMIT = 200;

/** Says when commits begin. */
export interface CommitTiming {
  /** When the next commit begins for `waiting` events of which the oldest came then. */
  dueAt(oldestAddedAt: number, waiting: number): number;
  /** A commit ended; so many events are there once all of its callers are back. */
  ended(comeBack: number): void;
}

/**
 * Callers that were just answered often send again at once: a commit without them would be half as
 * large, and they would wait for it and for the next one. All times are those of `now`.
 */
export function createCommitTiming(flushAfterMs: number, now: () => number): CommitTiming {
  let last = { endedAt: Number.NEGATIVE_INFINITY, comeBack: Number.POSITIVE_INFINITY };
  return {
    dueAt(oldestAddedAt, waiting) {
      const alone = oldestAddedAt + flushAfterMs;
      const gatheredAt = last.endedAt + flushAfterMs;
      if (now() >= gatheredAt || waiting >= WORTH_A_COMMIT) return alone;
      return waiting >= last.comeBack ? oldestAddedAt : gatheredAt;
    },
    ended(comeBack) {
      last = { endedAt: now(), comeBack };
    },
  };
}
