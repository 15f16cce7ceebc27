import { type GroupChange, readGroupChange } from '../../persons/write/groups-writes.ts';
import {
  isDroppedEvent,
  type PersonChange,
  readPersonChange,
  toStoredProperties,
} from '../../persons/write/persons-writes.ts';
import { type FlagUse, readFlagUse } from '../../usage/flags/flag-use.ts';
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

/**
 * The events that are stored at all, each with what it does to persons and groups, one in each step.
 * One that is too large refuses them all.
 */
export function* prepareEvents(
  projectId: number,
  events: readonly CaptureEvent[],
): Generator<void, readonly PreparedEvent[]> {
  const prepared: PreparedEvent[] = [];
  for (const event of events) {
    if (!isDroppedEvent(event)) prepared.push(prepareEvent(projectId, event));
    yield;
  }
  return prepared;
}

function prepareEvent(projectId: number, event: CaptureEvent): PreparedEvent {
  const propertiesJson = JSON.stringify(toStoredProperties(event));
  requireEventSize(event, propertiesJson);
  return {
    id: `${projectId}:${event.uuid}`,
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
}
