import type { JsonObject } from '../../common/json.ts';
import { type Sent, type Statements, sendWith } from '../../database/pipeline.ts';
import {
  applyGroupChanges,
  assignGroupTypes,
  loadGroupTypes,
} from '../../persons/write/groups-writes.ts';
import {
  loadPersonLedgers,
  lockPersons,
  type PersonEntry,
  type RefusedMerge,
  sendPersonChanges,
} from '../../persons/write/persons-writes.ts';
import { sendFlagUses } from '../../usage/flags/flag-usage-writes.ts';
import type { FullProjects } from '../../usage/flags/full-projects.ts';
import { claimUuids, sendEventRows } from './event-statements.ts';
import type { PreparedEvent } from './prepared-event.ts';

/** What the transaction needs to know, and whom it tells of what concerns others. */
export interface EventsWritten {
  /**
   * Told of each project that got a group type, which changes its configuration, before any row is
   * changed that a command on the project may have locked, see `writeEvents`.
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
 * Stores the events and applies what they do to persons and groups, in their order and in a few
 * round trips. An event whose uuid the project has already is passed over entirely: a client's
 * retry must not bring back older person properties.
 *
 * A commit, step by step. What stands in one box is sent at once, costs one round trip, and is worked
 * off by the server in this order. Steps in brackets are sent only when there is something to do; a
 * commit of events of known persons is the first box and the last. Every lock lasts until the commit.
 * Steps 1 and 14 are those of `pipelinedTransaction`; `commit-round-trips.db.test.ts` holds all of it.
 *
 *     +--------------------------------------------+--------------------------------------------------+
 *     |  1. begin, with limits on time             |                                                  |
 *     |  2. claim the uuids                        | locks the uuids, in their order: another process |
 *     |                                            | that stores one of them waits                    |
 *     |  3. lock the persons of the projects       | advisory locks, in the order of the ids: nobody  |
 *     |                                            | else changes persons, groups, group types, uses  |
 *     |  4. find the persons that are named        | sent behind the lock, so it sees what the last   |
 *     | [5. find the group types]                  | holder of the lock committed                     |
 *     +--------------------------------------------+--------------------------------------------------+
 *     | [6. add group types that are new]          |                                                  |
 *     +--------------------------------------------+--------------------------------------------------+
 *     | [7. raise the project's revision]          | locks the project's row; one round trip for each |
 *     |                                            | project with new types, in the order of the ids  |
 *     +--------------------------------------------+--------------------------------------------------+
 *     | [8. write the groups; add the new persons] | the ids of new persons come back                 |
 *     +--------------------------------------------+--------------------------------------------------+
 *     | [9. add distinct ids; take over what they  | one more when they used flags before they had a  |
 *     |     used as visitors]                      | person                                           |
 *     +--------------------------------------------+--------------------------------------------------+
 *     | [10. merge: lock the persons, move their   | five round trips, one for each of these, however |
 *     |  memberships and kept identifiers, then    | many persons merge; locks their rows in the      |
 *     |  their distinct ids, then what they used,  | order of the ids, as evaluation does when it     |
 *     |  then delete the absorbed]                 | keeps identifiers, and cohorts whose count falls |
 *     +--------------------------------------------+--------------------------------------------------+
 *     | [11. find the series of called flags]      | two more when there are new ones                 |
 *     +--------------------------------------------+--------------------------------------------------+
 *     | [12. update persons; count called flags]   | the update goes with the first box after 8 that  |
 *     |  13. add the events, many in several parts | there is; all parts but the last are waited for  |
 *     |  14. commit                                | a statement that fails makes it a rollback       |
 *     +--------------------------------------------+--------------------------------------------------+
 *
 * That is the order of all commands, so that none of them can wait for each other: the persons of a
 * project (`lockPersons`), then the project's row, then its cohorts. A new group type raises the
 * revision, so group types come before the merges, which correct the counts of static cohorts.
 */
export async function writeEvents(
  tx: Statements,
  prepared: readonly PreparedEvent[],
  listener: EventsWritten,
): Promise<void> {
  const { rest } = await sendEvents(tx, prepared, listener);
  await rest;
}

/** The same without waiting for the last statements, so that a commit can go with them. */
export async function sendEvents(
  tx: Statements,
  prepared: readonly PreparedEvent[],
  { onGroupTypesAdded, onMergeRefused, mayRepeat, fullProjects }: EventsWritten,
): Promise<Sent<void>> {
  // Steps 2 to 5. What is started together is one round trip; the server works it off in this order.
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
  // Steps 6 and 7.
  const groupTypes = await assignGroupTypes(tx, groupEntries, knownTypes);
  for (const projectId of groupTypes.projectIdsWithNewTypes) await onGroupTypesAdded(projectId);
  // Steps 8 to 10.
  const [{ result: personIds, rest: personsWritten }, groupProperties] = await Promise.all([
    sendPersonChanges(tx, fresh.map(toPersonEntry), ledgers, onMergeRefused),
    applyGroupChanges(tx, groupEntries, groupTypes),
  ]);
  const propertiesJson = fresh.map((event, index) =>
    addProperties(event.propertiesJson, groupProperties[index] ?? null),
  );
  // Step 11.
  const { rest: usesRecorded } = await sendFlagUses(
    tx,
    fresh.flatMap((event, index) => {
      const { projectId, distinctId, flagUse: use, timestamp, receivedAt } = event;
      const personId = personIds[index] ?? null;
      return use === null ? [] : [{ projectId, distinctId, personId, use, timestamp, receivedAt }];
    }),
    fullProjects,
  );
  // Steps 12 and 13.
  const { rest: eventsAdded } = await sendEventRows(tx, {
    events: fresh,
    personIds,
    propertiesJson,
  });
  return sendWith(undefined, personsWritten, usesRecorded, eventsAdded);
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
