import type { Db } from '../database/db.ts';
import { ensurePartitions } from './event-partitions.ts';

const DAYS_AHEAD = 3;
const CHECK_EVERY_MS = 60 * 60 * 1_000;

/**
 * Makes the partitions of today and the next days now, and goes on doing so, so that no capture
 * has to wait for one at midnight. `stop` ends it and waits for a check that is under way.
 */
export async function keepPartitionsAhead(
  db: Db,
  log: { warn(fields: object, message: string): void },
): Promise<{ stop(): Promise<void> }> {
  await ensurePartitions(db, new Date(), DAYS_AHEAD);
  let checking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    checking = ensurePartitions(db, new Date(), DAYS_AHEAD).catch((error: unknown) => {
      log.warn({ err: error }, 'Partitions for the next days could not be made; trying again.');
    });
  }, CHECK_EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await checking;
    },
  };
}
