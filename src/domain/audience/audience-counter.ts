import { Refusal } from '../common/refusal.ts';
import type { Db } from '../database/db.ts';
import { COUNT_STATEMENT_MS } from '../database/deadlines.ts';
import type { PreparedCondition, Snapshot } from '../evaluation/model/snapshot.ts';
import { type Audience, countAudience } from './count-audience.ts';

/** Counts whom a condition matches. Throws `unavailable` when that takes too long. */
export type AudienceCounter = (
  snapshot: Snapshot,
  condition: PreparedCondition,
  now: Date,
) => Promise<Audience>;

/** Counts that run at the same time: each holds a connection that evaluation may need. */
const RUNNING_MAX = 2;
const WAITING_MAX = 20;

/** A counter for requests: few counts at once, the others wait their turn. */
export function createAudienceCounter(db: Db): AudienceCounter {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function enter(): Promise<void> {
    if (running < RUNNING_MAX) {
      running += 1;
      return;
    }
    if (waiting.length >= WAITING_MAX) {
      const detail = 'Too many counts are under way. Please try again shortly.';
      throw new Refusal('unavailable', detail);
    }
    // Whoever leaves gives its place to the next.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return async (snapshot, condition, now) => {
    await enter();
    try {
      return await countAudience(db, snapshot, condition, { now, timeoutMs: COUNT_STATEMENT_MS });
    } finally {
      leave();
    }
  };
}
