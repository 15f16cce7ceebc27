import type { Db } from '../database/db.ts';
import type { JsonObject } from '../json.ts';
import { toStoredDistinctId } from '../persons/persons-writes.ts';

/** An event as it is stored. */
export interface StoredEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  /** The person at the time of receipt; merges since then only moved its distinct ids. */
  readonly personId: number | null;
  readonly properties: JsonObject;
  readonly timestamp: Date;
  readonly receivedAt: Date;
}

export interface ListEventsFilter {
  readonly event?: string;
  readonly distinctId?: string;
  readonly limit: number;
}

/** The project's newest events by their own time, at most `limit`. */
export async function listEvents(
  db: Db,
  projectId: number,
  { event, distinctId, limit }: ListEventsFilter,
): Promise<StoredEvent[]> {
  const query = db('events').where({ project_id: projectId });
  if (event !== undefined) query.andWhere({ event });
  if (distinctId !== undefined) query.andWhere({ distinct_id: toStoredDistinctId(distinctId) });
  const rows = await query
    .orderBy([
      { column: 'timestamp', order: 'desc' },
      { column: 'uuid', order: 'desc' },
    ])
    .limit(limit)
    .select('uuid', 'event', 'distinct_id', 'person_id', 'properties', 'timestamp', 'received_at');
  return rows.map((row) => ({
    uuid: row.uuid,
    event: row.event,
    distinctId: row.distinct_id,
    personId: row.person_id,
    properties: row.properties,
    timestamp: row.timestamp,
    receivedAt: row.received_at,
  }));
}
