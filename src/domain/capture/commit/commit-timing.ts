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
 *
 * In these drawings letters are events as they come (a' is the next one of a's caller), `.` is waiting
 * and `[= a b =]` the commit of a and b. The wait is `flushAfterMs`, 5 ms by default.
 *
 *     idle                      a..b.......[= a b =]
 *                               0          5 ms after the first event
 *
 *     all callers come back     [= a b =]..a'..b'[= c a' b' =]
 *                                  c             at once: 2 were answered and 1 waited, 3 are there
 *
 *     one of them does not      [= a b =]..a'......[= c a' =]
 *                                  c     0         5 ms after the end of the last commit
 *
 *     200 events wait           [= a b =][= c d e ... =]
 *                                c d e   5 ms after c, which is over by now: nobody is waited for
 *
 * If nobody were waited for, callers in lockstep would part into two halves, and each would wait for
 * the commits of both:
 *
 *     first half                [= a b =].........[= a' b' =]..........
 *     second half               ..........[= c d =]..........[= c' d' =]
 *
 * Only one commit is under way at a time, and one that is full begins without any wait: both are
 * the event buffer's.
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
