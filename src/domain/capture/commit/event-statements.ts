import { toPlainArray, toTextArray } from '../../database/column-literals.ts';
import { isUniqueViolation } from '../../database/database-error.ts';
import type { Statements } from '../../database/pipeline.ts';
import { preparedOnce } from '../../database/prepared-statements.ts';
import { toDay } from '../../events/event-partitions.ts';
import type { PreparedEvent } from './prepared-event.ts';

const CLAIM_NEW_UUIDS = preparedOnce(
  'claim-new-uuids',
  `
    INSERT INTO event_uuids (project_id, uuid, received_on)
    SELECT * FROM unnest(?::int[], ?::uuid[], ?::date[])`,
);

const CLAIM_UUIDS = preparedOnce(
  'claim-uuids',
  `
    INSERT INTO event_uuids (project_id, uuid, received_on)
    SELECT * FROM unnest(?::int[], ?::uuid[], ?::date[])
    ON CONFLICT DO NOTHING
    RETURNING project_id || ':' || uuid AS id`,
);

/** Whether the transaction failed because an event is stored already that was said to be new. */
export function isRepeat(error: unknown): boolean {
  return isUniqueViolation(error, 'event_uuids_pkey');
}

/** Takes the uuids that nobody has stored yet and returns their events; the first one wins. */
export async function claimUuids(
  tx: Statements,
  prepared: readonly PreparedEvent[],
  mayRepeat: boolean,
): Promise<PreparedEvent[]> {
  const byId = new Map<string, PreparedEvent>();
  for (const event of prepared) {
    if (!byId.has(event.id)) byId.set(event.id, event);
  }
  // In a fixed order, so that two processes that store the same retry cannot block each other.
  const claims = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const columns = [
    toPlainArray(claims.map(({ projectId }) => projectId)),
    toPlainArray(claims.map(({ uuid }) => uuid)),
    toPlainArray(claims.map(({ receivedAt }) => toDay(receivedAt))),
  ];
  if (!mayRepeat) {
    await tx.raw(CLAIM_NEW_UUIDS, columns);
    return [...byId.values()];
  }
  const result: { rows: { id: string }[] } = await tx.raw(CLAIM_UUIDS, columns);
  const claimed = new Set(result.rows.map(({ id }) => id));
  return [...byId.values()].filter(({ id }) => claimed.has(id));
}

const INSERT_EVENTS = preparedOnce(
  'insert-events',
  `
    INSERT INTO events (received_on, project_id, uuid, event, distinct_id, person_id, properties,
                        timestamp, received_at)
    SELECT received_on, project_id, uuid, event, distinct_id, person_id, properties::jsonb,
           to_timestamp(timestamp_ms / 1000), to_timestamp(received_at_ms / 1000)
    FROM unnest(
      ?::date[], ?::int[], ?::uuid[], ?::text[], ?::text[], ?::bigint[],
      string_to_array(?, chr(10)), ?::float8[], ?::float8[]
    ) AS e (
      received_on, project_id, uuid, event, distinct_id, person_id,
      properties, timestamp_ms, received_at_ms
    )`,
);

/** Stores events with the persons that they are of and their properties, column by column. */
export async function insertEvents(
  tx: Statements,
  events: readonly PreparedEvent[],
  personIds: readonly (number | null)[],
  propertiesJson: readonly string[],
): Promise<void> {
  await tx.raw(INSERT_EVENTS, [
    toPlainArray(events.map(({ receivedAt }) => toDay(receivedAt))),
    toPlainArray(events.map(({ projectId }) => projectId)),
    toPlainArray(events.map(({ uuid }) => uuid)),
    toTextArray(events.map(({ event }) => event)),
    toTextArray(events.map(({ distinctId }) => distinctId)),
    toPlainArray(personIds),
    // JSON never contains a raw line break, so lines need no escaping at all.
    propertiesJson.join('\n'),
    toPlainArray(events.map(({ timestamp }) => timestamp.getTime())),
    toPlainArray(events.map(({ receivedAt }) => receivedAt.getTime())),
  ]);
}
