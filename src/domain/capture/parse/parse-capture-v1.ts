import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import { toIdentifier } from '../../persons/write/persons-writes.ts';
import { resolveTimestamp } from './capture-clock.ts';
import type { CaptureEvent } from './capture-event.ts';
import { invalidBatch, tooLargeCapture } from './capture-refusal.ts';
import { readCaptureV1Options } from './capture-v1-options.ts';
import { cleanJsonObject } from './clean-json.ts';
import { isEventTooLarge } from './event-size.ts';
import { EVENTS_MAX, REMOVED_EVENT, toCanonicalUuid } from './parse-capture.ts';

const NAME_MAX_BYTES = 200;
const DISTINCT_ID_MAX_BYTES = 200;

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Ids that so many clients share by mistake that a person for them would mean nothing. */
const SHARED_IDS = new Set([
  '0',
  '00000000-0000-0000-0000-000000000000',
  '[object object]',
  'anonymous',
  'anonymous-user',
  'backend',
  'distinct_id',
  'distinctid',
  'email',
  'false',
  'guest',
  'id',
  'nan',
  'none',
  'not_authenticated',
  'null',
  'system',
  'true',
  'undefined',
  'user',
]);

/** Why one event of a batch is not stored. */
export type DropReason =
  | 'dropped_performance_event'
  | 'missing_event_name'
  | 'event_name_too_long'
  | 'missing_distinct_id'
  | 'distinct_id_too_large'
  | 'invalid_event_timestamp'
  | 'malformed_event_properties'
  | 'invalid_options'
  | 'event_too_big'
  | 'rejected';

/** What becomes of one event of a batch. */
export type CaptureV1Result =
  | { readonly result: 'ok'; readonly details?: 'person_processing_disabled' }
  | { readonly result: 'drop'; readonly details: DropReason };

export interface CaptureV1Context {
  readonly receivedAt: Date;
  /** The client's clock when it sent the request. */
  readonly sentAt: Date;
  /** Name and version of the SDK, with a slash between them. */
  readonly sdkInfo: string;
}

export interface ParsedCaptureV1 {
  /** By uuid as the client spells it, in the order of the batch. */
  readonly results: Map<string, CaptureV1Result>;
  readonly events: readonly CaptureEvent[];
}

/**
 * Turns a batch into events in stored form and a result for each of them, one in each step. Only what makes results
 * ambiguous (no events, and uuids that are missing, malformed or not unique) refuses all of it,
 * with a `Refusal`.
 */
export function* parseCaptureV1Batch(
  batch: readonly JsonValue[],
  context: CaptureV1Context,
): Generator<void, ParsedCaptureV1> {
  if (batch.length === 0) throw invalidBatch('empty_batch', 'The batch holds no event.');
  if (batch.length > EVENTS_MAX) {
    throw tooLargeCapture(`the request holds more than ${EVENTS_MAX} events`);
  }
  const results = new Map<string, CaptureV1Result>();
  const seen = new Set<string>();
  const events: CaptureEvent[] = [];
  for (const sent of batch) {
    if (!isJsonObject(sent)) {
      throw invalidBatch('invalid_batch', 'An event of the batch is not an object.');
    }
    const { given, uuid } = readUuid(sent.uuid);
    if (seen.has(uuid)) {
      throw invalidBatch('duplicate_event_uuid', `Two events have the uuid ${uuid}.`);
    }
    seen.add(uuid);
    yield;
    const parsed = parseEvent(cleanJsonObject(sent), uuid, context);
    if (typeof parsed === 'string') {
      results.set(given, { result: 'drop', details: parsed });
      continue;
    }
    events.push(parsed.event);
    results.set(
      given,
      parsed.isShared ? { result: 'ok', details: 'person_processing_disabled' } : { result: 'ok' },
    );
  }
  return { results, events };
}

function readUuid(value: JsonValue | undefined): { given: string; uuid: string } {
  if (value === undefined || value === null || value === '') {
    throw invalidBatch('missing_event_uuid', 'An event of the batch has no uuid.');
  }
  const uuid = typeof value === 'string' ? toCanonicalUuid(value) : null;
  if (typeof value !== 'string' || uuid === null) {
    throw invalidBatch('invalid_event_uuid', 'The uuid of an event is not a UUID.');
  }
  return { given: value, uuid };
}

function parseEvent(
  item: JsonObject,
  uuid: string,
  { receivedAt, sentAt, sdkInfo }: CaptureV1Context,
): { readonly event: CaptureEvent; readonly isShared: boolean } | DropReason {
  const { event, distinct_id, timestamp } = item;
  if (typeof event !== 'string' || event.trim() === '') return 'missing_event_name';
  if (Buffer.byteLength(event) > NAME_MAX_BYTES) return 'event_name_too_long';
  if (event === REMOVED_EVENT) return 'dropped_performance_event';
  const distinctId = typeof distinct_id === 'string' ? toIdentifier(distinct_id) : null;
  if (distinctId === null) return 'missing_distinct_id';
  if (Buffer.byteLength(distinctId) > DISTINCT_ID_MAX_BYTES) return 'distinct_id_too_large';
  const claimed = readTimestamp(timestamp);
  if (claimed === null) return 'invalid_event_timestamp';
  const own = item.properties ?? {};
  if (!isJsonObject(own)) return 'malformed_event_properties';
  const options = readCaptureV1Options(item.options);
  if (options === null) return 'invalid_options';
  const isShared = SHARED_IDS.has(distinctId.trim().toLowerCase());
  const properties = {
    ...own,
    ...readSdk(sdkInfo),
    ...(typeof item.session_id === 'string' ? { $session_id: item.session_id } : {}),
    ...(typeof item.window_id === 'string' ? { $window_id: item.window_id } : {}),
    ...options.properties,
    ...(isShared ? { $process_person_profile: false } : {}),
  };
  if (isEventTooLarge(event, JSON.stringify(properties))) return 'event_too_big';
  const settled = resolveTimestamp({
    receivedAt,
    sentAt,
    timestamp: claimed,
    offsetMs: null,
    isSentAtIgnored: options.isSkewKept,
  });
  return {
    event: { uuid, event, distinctId, properties, timestamp: settled, receivedAt },
    isShared,
  };
}

function readTimestamp(value: JsonValue | undefined): Date | null {
  if (typeof value !== 'string' || !RFC_3339.test(value)) return null;
  const date = new Date(value.replace(' ', 'T').toUpperCase());
  return Number.isNaN(date.getTime()) ? null : date;
}

function readSdk(sdkInfo: string): JsonObject {
  const slash = sdkInfo.indexOf('/');
  return { $lib: sdkInfo.slice(0, slash), $lib_version: sdkInfo.slice(slash + 1) };
}
