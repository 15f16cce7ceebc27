import type { Tx } from '../database/db.ts';
import { toDay } from './event-partitions.ts';

const DAY_MS = 86_400_000;

/**
 * Deletes the project's events of these stored distinct ids. With `receivedSince` only those that
 * came in at that time or later, which looks at few partitions. That an event's uuid was stored is
 * remembered, so that no client's retry brings the event back.
 */
export async function deleteEventsOf(
  tx: Tx,
  projectId: number,
  distinctIds: readonly string[],
  receivedSince: Date | null = null,
): Promise<void> {
  // A request is stored under the day on which it came in, which may be the one before its commit.
  const since =
    receivedSince === null ? '-infinity' : toDay(new Date(receivedSince.getTime() - DAY_MS));
  await tx.raw(
    `DELETE FROM events
     WHERE project_id = ? AND distinct_id = ANY (?::text[]) AND received_on >= ?::date`,
    [projectId, [...distinctIds], since],
  );
}
