import { toPlainArray, toTextArray } from '../../database/column-literals.ts';
import { isUniqueViolation } from '../../database/database-error.ts';
import { type Sent, type Statements, sendWith } from '../../database/pipeline.ts';
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

/** What one statement carries: more would hold up everybody while it is put together. */
const STATEMENT_MAX_CHARACTERS = 2_097_152;
const STATEMENT_MAX_EVENTS = 2_000;

/** Events as they are stored, with the persons that they are of and their properties. */
export interface EventRows {
  readonly events: readonly PreparedEvent[];
  readonly personIds: readonly (number | null)[];
  readonly propertiesJson: readonly string[];
}

/**
 * Stores events, in several statements when they are many; the last of them is not waited for. Large
 * commits so hold one part of their text in memory at a time.
 */
export async function sendEventRows(tx: Statements, rows: EventRows): Promise<Sent<void>> {
  let from = 0;
  for (;;) {
    const to = endOfPart(rows.propertiesJson, from);
    const part = insertRows(tx, rows, from, to);
    if (to === rows.events.length) return sendWith(undefined, part);
    await part;
    from = to;
  }
}

/** Where the part ends that starts with the event at `from`. */
function endOfPart(propertiesJson: readonly string[], from: number): number {
  let characters = 0;
  let to = from;
  while (to < propertiesJson.length && to - from < STATEMENT_MAX_EVENTS) {
    characters += propertiesJson[to]?.length ?? 0;
    if (characters > STATEMENT_MAX_CHARACTERS && to > from) break;
    to += 1;
  }
  return to;
}

/** Inserts the events from `from` up to `to`, column by column. */
async function insertRows(
  tx: Statements,
  rows: EventRows,
  from: number,
  to: number,
): Promise<void> {
  const events = rows.events.slice(from, to);
  await tx.raw(INSERT_EVENTS, [
    toPlainArray(events.map(({ receivedAt }) => toDay(receivedAt))),
    toPlainArray(events.map(({ projectId }) => projectId)),
    toPlainArray(events.map(({ uuid }) => uuid)),
    toTextArray(events.map(({ event }) => event)),
    toTextArray(events.map(({ distinctId }) => distinctId)),
    toPlainArray(rows.personIds.slice(from, to)),
    // JSON never contains a raw line break, so lines need no escaping at all.
    rows.propertiesJson.slice(from, to).join('\n'),
    toPlainArray(events.map(({ timestamp }) => timestamp.getTime())),
    toPlainArray(events.map(({ receivedAt }) => receivedAt.getTime())),
  ]);
}
