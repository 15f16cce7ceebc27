import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import { toIdentifier, toStoredDistinctId } from '../../common/stored-text.ts';
import { isIllegalDistinctId } from './illegal-ids.ts';
import { mapEventProperties } from './mapped-properties.ts';

/** What an event has to bring to change a person. */
export interface PersonEvent {
  readonly event: string;
  readonly distinctId: string;
  readonly properties: JsonObject;
  readonly timestamp: Date;
}

/** The absorption of one distinct id's person by the person of the event. */
export interface MergeRequest {
  readonly otherDistinctId: string;
  /** `$merge_dangerously`: also when the other person is already identified. */
  readonly isForced: boolean;
}

/** What one event does to the person of its distinct id. */
export interface PersonChange {
  /** `lookup` links the event to a person that exists; `process` creates and changes persons. */
  readonly mode: 'lookup' | 'process';
  readonly merge: MergeRequest | null;
  /** A merge was asked for through an id that many people share; `merge` is null then. */
  readonly isMergeIllegal: boolean;
  readonly set: JsonObject;
  readonly setOnce: JsonObject;
  /** Set as well, but what is only noise among them is not worth a write of its own. */
  readonly mapped: JsonObject;
  readonly unset: readonly string[];
  /** An event whose purpose is the person, so that nothing about it is noise. */
  readonly isPersonEvent: boolean;
}

const PERSON_EVENTS = new Set(['$identify', '$create_alias', '$merge_dangerously', '$set']);

/** Meaningless without a person: dropped when the event declines person processing. */
const PERSON_ONLY_EVENTS = new Set([
  '$identify',
  '$create_alias',
  '$merge_dangerously',
  '$groupidentify',
]);

/** Sent by machinery in great numbers; they never change a person. */
const NEUTRAL_EVENTS = new Set(['$exception', '$$heatmap']);

const NOTHING: JsonObject = Object.freeze({});
const NO_KEYS: readonly string[] = Object.freeze([]);

const LOOKUP: PersonChange = {
  mode: 'lookup',
  merge: null,
  isMergeIllegal: false,
  set: NOTHING,
  setOnce: NOTHING,
  mapped: NOTHING,
  unset: NO_KEYS,
  isPersonEvent: false,
};

/** Whether the event asks that no person is processed; only the boolean false says so. */
export function isPersonless(properties: JsonObject): boolean {
  return properties.$process_person_profile === false;
}

/** Whether the event is dropped: it only concerns a person and asks that none is processed. */
export function isDroppedEvent(event: PersonEvent): boolean {
  return isPersonless(event.properties) && PERSON_ONLY_EVENTS.has(event.event);
}

/**
 * The event's properties as they are stored: without person properties when they are not applied,
 * that is on `$groupidentify` and on events that ask that no person is processed.
 */
export function toStoredProperties({ event, properties }: PersonEvent): JsonObject {
  if (event !== '$groupidentify' && !isPersonless(properties)) return properties;
  const { $set, $set_once, $unset, ...rest } = properties;
  const hasNone = $set === undefined && $set_once === undefined && $unset === undefined;
  return hasNone ? properties : rest;
}

/** What the event does to its person; it may be nothing but a link to a person that exists. */
export function readPersonChange(event: PersonEvent): PersonChange {
  const { properties } = event;
  if (event.event === '$groupidentify' || isPersonless(properties)) return LOOKUP;
  const { merge, isMergeIllegal } = readMerge(event);
  const isNeutral = NEUTRAL_EVENTS.has(event.event);
  const mapped = isNeutral ? NOT_MAPPED : mapEventProperties(properties);
  return {
    mode: 'process',
    merge,
    isMergeIllegal,
    set: isNeutral ? NOTHING : readObject(properties.$set),
    setOnce: isNeutral ? NOTHING : mergeObjects(mapped.setOnce, properties.$set_once),
    mapped: mapped.set,
    unset: isNeutral ? NO_KEYS : readKeys(properties.$unset),
    isPersonEvent: PERSON_EVENTS.has(event.event),
  };
}

const NOT_MAPPED = { set: NOTHING, setOnce: NOTHING };

const NO_MERGE = { merge: null, isMergeIllegal: false };

function readMerge({
  event,
  distinctId,
  properties,
}: PersonEvent): Pick<PersonChange, 'merge' | 'isMergeIllegal'> {
  const other = readOtherId(event, properties);
  if (other === null) return NO_MERGE;
  const otherDistinctId = toStoredDistinctId(other);
  if (otherDistinctId === distinctId) return NO_MERGE;
  if (isIllegalDistinctId(otherDistinctId) || isIllegalDistinctId(distinctId)) {
    return { merge: null, isMergeIllegal: true };
  }
  const merge = { otherDistinctId, isForced: event === '$merge_dangerously' };
  return { merge, isMergeIllegal: false };
}

function readOtherId(event: string, properties: JsonObject): string | null {
  if (event === '$identify') return toIdentifier(properties.$anon_distinct_id);
  if (event === '$create_alias' || event === '$merge_dangerously') {
    return toIdentifier(properties.alias);
  }
  return null;
}

function readObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : NOTHING;
}

function mergeObjects(mapped: JsonObject, stated: JsonValue | undefined): JsonObject {
  return isJsonObject(stated) ? { ...mapped, ...stated } : mapped;
}

/** `$unset` names keys as an array of texts or as the keys of an object. */
function readKeys(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.filter((key) => typeof key === 'string');
  return isJsonObject(value) ? Object.keys(value) : NO_KEYS;
}
