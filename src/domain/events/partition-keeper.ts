import type { Db } from '../database/db.ts';
import { ensurePartitions } from './event-partitions.ts';
import { createEventRetention } from './event-retention.ts';

const DAYS_AHEAD = 3;
const CHECK_EVERY_MS = 60 * 60 * 1_000;

export interface PartitionKeeperOptions {
  readonly log: { warn(fields: object, message: string): void };
  /** How many days events are kept after the day of their receipt. */
  readonly retentionDays: number;
  readonly now: () => Date;
}

/** Keeps the partitions of events, until it is stopped. */
export interface PartitionKeeper {
  /** Ends it and waits for a check that is under way. */
  stop(): Promise<void>;
}

/**
 * Makes the partitions of today and the next days now, and goes on doing so, so that no capture
 * has to wait for one at midnight. Days whose retention has expired are dropped as well, the
 * first ones right after the start.
 */
export async function keepPartitions(
  db: Db,
  { log, retentionDays, now }: PartitionKeeperOptions,
): Promise<PartitionKeeper> {
  let isStopped = false;
  const retention = createEventRetention(db, retentionDays);
  const makeAhead = () => ensurePartitions(db, now(), DAYS_AHEAD);
  const check = async (): Promise<void> => {
    await makeAhead().catch((error: unknown) => {
      log.warn({ err: error }, 'Partitions for the next days could not be made; trying again.');
    });
    if (isStopped) return;
    const dropped = retention.drop(now(), () => isStopped);
    await dropped.catch((error: unknown) => {
      log.warn({ err: error }, 'Expired events could not be dropped; trying again.');
    });
  };
  await makeAhead();
  let checking = check();
  const timer = setInterval(() => {
    // One check at a time, however long the first one takes to drop a backlog.
    checking = checking.then(check);
  }, CHECK_EVERY_MS);
  timer.unref();
  return {
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await checking;
    },
  };
}
