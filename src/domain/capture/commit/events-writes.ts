import type { JsonObject } from '../../common/json.ts';
import { toPlainArray, toTextArray } from '../../database/column-literals.ts';
import { isUniqueViolation } from '../../database/database-error.ts';
import { type Sent, type Statements, sendWith } from '../../database/pipeline.ts';
import { preparedOnce } from '../../database/prepared-statements.ts';
import { toDay } from '../../events/event-partitions.ts';
import {
  applyGroupChanges,
  assignGroupTypes,
  type GroupChange,
  loadGroupTypes,
  readGroupChange,
} from '../../persons/write/groups-writes.ts';
import {
  isDroppedEvent,
  loadPersonLedgers,
  lockPersons,
  type PersonChange,
  type PersonEntry,
  type RefusedMerge,
  readPersonChange,
  sendPersonChanges,
  toStoredProperties,
} from '../../persons/write/persons-writes.ts';
import { sendFlagUses } from '../../usage/flags/flag-usage-writes.ts';
import { type FlagUse, readFlagUse } from '../../usage/flags/flag-use.ts';
import type { FullProjects } from '../../usage/flags/full-projects.ts';
import type { CaptureEvent } from '../parse/capture-event.ts';
import { requireEventSize } from '../parse/event-size.ts';

/**
 * An event with all that can be decided about it before a transaction opens, so that the one
 * transaction that everybody waits for has little to do.
 */
export interface PreparedEvent {
  /** Project and uuid: an event is stored once for each. */
  readonly id: string;
  readonly projectId: number;
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  readonly propertiesJson: string;
  readonly timestamp: Date;
  readonly receivedAt: Date;
  readonly personChange: PersonChange;
  readonly groupChange: GroupChange | null;
  readonly flagUse: FlagUse | null;
}

/** Told within the transaction what else concerns others. */
export interface EventsWritten {
  /**
   * Told of each project that got a group type, which changes its configuration, before any row is
   * changed that a command on the project may hold, see `writeEvents`.
   */
  readonly onGroupTypesAdded: (projectId: number) => Promise<void>;
  readonly onMergeRefused: (refused: RefusedMerge) => void;
  /**
   * Whether some of the events may be stored already. Otherwise the transaction fails when one is,
   * see `isRepeat`: hardly ever, and not to ask is far cheaper.
   */
  readonly mayRepeat: boolean;
  /** The projects without room for another invented key, as earlier commits found out. */
  readonly fullProjects: FullProjects;
}

/**
 * The events that are stored at all, each with what it does to persons and groups. One that is too
 * large refuses them all.
 */
export function prepareEvents(
  projectId: number,
  events: readonly CaptureEvent[],
): readonly PreparedEvent[] {
  return events
    .filter((event) => !isDroppedEvent(event))
    .map((event) => {
      const propertiesJson = JSON.stringify(toStoredProperties(event));
      requireEventSize(event, propertiesJson);
      return {
        id: toId(projectId, event.uuid),
        projectId,
        uuid: event.uuid,
        event: event.event,
        distinctId: event.distinctId,
        propertiesJson,
        timestamp: event.timestamp,
        receivedAt: event.receivedAt,
        personChange: readPersonChange(event),
        groupChange: readGroupChange(event),
        flagUse: readFlagUse(event),
      };
    });
}

/**
 * Stores the events and applies what they do to persons and groups, in their order and in a few
 * round trips. An event whose uuid the project has already is passed over entirely: a client's
 * retry must not bring back older person properties.
 *
 * Rows are locked in the order of all commands, so that none of them can wait for each other:
 * persons (`lockPersons`), then the project's row, then its cohorts. A new group type raises the
 * revision, so group types come before the merges, which correct the counts of static cohorts.
 */
export async function writeEvents(
  tx: Statements,
  prepared: readonly PreparedEvent[],
  heard: EventsWritten,
): Promise<void> {
  const { rest } = await sendEvents(tx, prepared, heard);
  await rest;
}

/** The same without waiting for the last statements, so that a commit can go with them. */
export async function sendEvents(
  tx: Statements,
  prepared: readonly PreparedEvent[],
  { onGroupTypesAdded, onMergeRefused, mayRepeat, fullProjects }: EventsWritten,
): Promise<Sent<void>> {
  // What is started together is one round trip; the server works it off in this order.
  const [fresh, , ledgers, knownTypes] = await Promise.all([
    claimUuids(tx, prepared, mayRepeat),
    lockPersons(
      tx,
      prepared.map(({ projectId }) => projectId),
    ),
    // The lock comes first, so nobody changes what these find before the transaction ends.
    loadPersonLedgers(tx, prepared.map(toPersonEntry)),
    loadGroupTypes(tx, prepared.map(toGroupEntry)),
  ]);
  if (fresh.length === 0) return sendWith(undefined);
  const groupEntries = fresh.map(toGroupEntry);
  const groupTypes = await assignGroupTypes(tx, groupEntries, knownTypes);
  for (const projectId of groupTypes.projectIdsWithNewTypes) await onGroupTypesAdded(projectId);
  const [{ result: personIds, rest: personsWritten }, groupProperties] = await Promise.all([
    sendPersonChanges(tx, fresh.map(toPersonEntry), ledgers, onMergeRefused),
    applyGroupChanges(tx, groupEntries, groupTypes),
  ]);
  const propertiesJson = fresh.map((event, index) =>
    addProperties(event.propertiesJson, groupProperties[index] ?? null),
  );
  const { rest: usesRecorded } = await sendFlagUses(
    tx,
    fresh.flatMap((event, index) => {
      const { projectId, distinctId, flagUse: use, timestamp, receivedAt } = event;
      const personId = personIds[index] ?? null;
      return use === null ? [] : [{ projectId, distinctId, personId, use, timestamp, receivedAt }];
    }),
    fullProjects,
  );
  return sendWith(
    undefined,
    personsWritten,
    usesRecorded,
    insertEvents(tx, fresh, personIds, propertiesJson),
  );
}

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
async function claimUuids(
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

async function insertEvents(
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

function toPersonEntry(event: PreparedEvent): PersonEntry {
  const { projectId, distinctId, timestamp, personChange: change } = event;
  return { projectId, distinctId, timestamp, change };
}

function toGroupEntry({ projectId, timestamp, groupChange: change }: PreparedEvent) {
  return { projectId, timestamp, change };
}

/** The JSON object with more keys at its end; of two equal keys, jsonb keeps the last. */
function addProperties(json: string, properties: JsonObject | null): string {
  if (properties === null) return json;
  const more = JSON.stringify(properties);
  if (more === '{}') return json;
  return json === '{}' ? more : `${json.slice(0, -1)},${more.slice(1)}`;
}

function toId(projectId: number, uuid: string): string {
  return `${projectId}:${uuid}`;
}
