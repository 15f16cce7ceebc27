import type { JsonObject } from '../common/json.ts';
import type { Db } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import { cleanText, toStoredDistinctId } from '../persons/write/persons-writes.ts';

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

/** A place in the list of events, newest first. */
export interface EventPosition {
  readonly timestamp: Date;
  readonly uuid: string;
}

export interface ListEventsFilter {
  readonly event?: string;
  readonly distinctId?: string;
  /** Events that report this flag, or that carry its value. */
  readonly flagKey?: string;
  /** Events of later times only. */
  readonly after?: Date;
  /** Events of earlier times only. */
  readonly before?: Date;
  /** Events that come behind this one in the list. */
  readonly behind?: EventPosition;
  readonly limit: number;
}

/** The project's newest events by their own time, at most `limit`. */
export async function listEvents(
  db: Db,
  projectId: number,
  filter: ListEventsFilter,
): Promise<StoredEvent[]> {
  return transaction(db, LIMITS.eventList, async (tx) => {
    const query = tx('events').where({ project_id: projectId });
    if (filter.event !== undefined) query.andWhere({ event: cleanText(filter.event) });
    if (filter.distinctId !== undefined) {
      query.andWhere({ distinct_id: toStoredDistinctId(filter.distinctId) });
    }
    if (filter.flagKey !== undefined) {
      const key = cleanText(filter.flagKey);
      query.whereRaw(`(properties ->> '$feature_flag' = ? OR jsonb_exists(properties, ?))`, [
        key,
        `$feature/${key}`,
      ]);
    }
    if (filter.after !== undefined) query.where('timestamp', '>', filter.after);
    if (filter.before !== undefined) query.where('timestamp', '<', filter.before);
    if (filter.behind !== undefined) {
      const { timestamp, uuid } = filter.behind;
      // The first half is what the index on the time can use.
      query.where('timestamp', '<=', timestamp);
      query.whereRaw('(timestamp, uuid) < (?, ?)', [timestamp, uuid]);
    }
    const rows = await query
      .orderBy([
        { column: 'timestamp', order: 'desc' },
        { column: 'uuid', order: 'desc' },
      ])
      .limit(filter.limit)
      .select(
        'uuid',
        'event',
        'distinct_id',
        'person_id',
        'properties',
        'timestamp',
        'received_at',
      );
    return rows.map((row) => ({
      uuid: row.uuid,
      event: row.event,
      distinctId: row.distinct_id,
      personId: row.person_id,
      properties: row.properties,
      timestamp: row.timestamp,
      receivedAt: row.received_at,
    }));
  });
}
