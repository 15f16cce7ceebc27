import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import { cutText, toIdentifier, toStoredDistinctId } from '../../persons/write/persons-writes.ts';
import { parseEpoch, parseTimestamp, resolveTimestamp } from './capture-clock.ts';
import type { CaptureEvent } from './capture-event.ts';
import { hydrationError, invalidCapture, tooLargeCapture } from './capture-refusal.ts';
import { extractToken, readToken } from './capture-token.ts';
import { cleanJsonObject } from './clean-json.ts';
import { newUuid } from './new-uuid.ts';

const EVENT_NAME_MAX_LENGTH = 200;

/** Browser performance events are accepted and silently removed. */
export const REMOVED_EVENT = '$performance_event';

/** What a body without an event name means on the legacy identify path. */
const ENGAGE_EVENT = '$identify';

const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_TEXT =
  /^(?:urn:uuid:)?\{?([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})\}?$/i;

/** The most events of one request: as many as wait for their commit at a time. */
export const EVENTS_MAX = 20_000;

/** Which family of paths the body came in on; only `engage` accepts a body without event name. */
export type CapturePath = 'event' | 'engage';

export interface CaptureTimes {
  readonly receivedAt: Date;
  /** The client's clock from the query; the body's own `sent_at` goes before it. */
  readonly sentAt?: Date;
}

/** A decoded body whose events were not looked at but for whose they are. */
export interface CaptureBody {
  readonly token: string;
  readonly items: readonly JsonObject[];
  readonly sentAt: Date | null;
}

interface RawCapture {
  readonly items: readonly JsonObject[];
  readonly token: string | null;
  readonly sentAt: Date | null;
}

/**
 * Reads the envelope of a decoded capture body: an array of events, a batch, a single event or, on
 * the engage path, a nameless one. Throws a `Refusal` for any other, for more than `EVENTS_MAX`
 * events, and for a key that cannot be one of a project.
 */
export function readCaptureBody(body: JsonValue, path: CapturePath): CaptureBody {
  const { items, token, sentAt } = readShape(body, path);
  if (items.length === 0) throw invalidCapture('request holds no event');
  return { token: extractToken(token, items), items, sentAt };
}

/**
 * Turns the events of a body into stored form, one in each step. All or nothing: one invalid event
 * refuses the request with a `Refusal`. May return none: removed events leave a request that is
 * still answered with 200. Pure but for the UUIDv7 of events that bring no uuid.
 */
export function* parseEvents(
  body: CaptureBody,
  times: CaptureTimes,
): Generator<void, CaptureEvent[]> {
  const sentAt = body.sentAt ?? times.sentAt ?? null;
  const events: CaptureEvent[] = [];
  for (const item of body.items) {
    const event = parseEvent(item, times.receivedAt, sentAt);
    if (event.event !== REMOVED_EVENT) events.push(event);
    yield;
  }
  return events;
}

function readShape(body: JsonValue, path: CapturePath): RawCapture {
  if (isArray(body)) return withoutEnvelope(requireObjects(body));
  if (!isJsonObject(body)) throw hydrationError('expected an object or an array of events');
  const { batch } = body;
  if (batch !== undefined && isArray(batch)) {
    return {
      items: requireObjects(batch),
      token: readToken(body, ['api_key', 'token']),
      sentAt: typeof body.sent_at === 'string' ? parseTimestamp(body.sent_at) : null,
    };
  }
  if (body.event !== undefined && body.event !== null) return withoutEnvelope([body]);
  if (path === 'engage') return withoutEnvelope([{ ...body, event: ENGAGE_EVENT }]);
  throw hydrationError('non-engage request missing event name attribute');
}

function withoutEnvelope(items: readonly JsonObject[]): RawCapture {
  return { items, token: null, sentAt: null };
}

function parseEvent(sent: JsonObject, receivedAt: Date, sentAt: Date | null): CaptureEvent {
  const item = cleanJsonObject(sent);
  const event = readEventName(item.event);
  const properties = readProperties(item);
  requireCookielessMode(properties.$cookieless_mode);
  return {
    uuid: readUuid(item.uuid),
    event,
    distinctId: readDistinctId(item, properties),
    properties,
    timestamp: resolveTimestamp({
      receivedAt,
      sentAt,
      timestamp: readTimestamp(item.timestamp),
      offsetMs: readOffset(item.offset),
      isSentAtIgnored: properties.$ignore_sent_at === true,
    }),
    receivedAt,
  };
}

function readEventName(value: JsonValue | undefined): string {
  if (value === undefined || value === null) throw hydrationError('missing field `event`');
  if (typeof value !== 'string') throw hydrationError('`event` must be a string');
  if (value === '') throw invalidCapture('event submitted with an empty event name');
  return cutText(value, EVENT_NAME_MAX_LENGTH);
}

function readDistinctId(item: JsonObject, properties: JsonObject): string {
  const distinctId = toIdentifier(item.distinct_id ?? item.$distinct_id ?? properties.distinct_id);
  if (distinctId === null) throw invalidCapture('event submitted without a distinct_id');
  return toStoredDistinctId(distinctId);
}

/** The event's properties with its top-level person properties merged over theirs, per key. */
function readProperties(item: JsonObject): JsonObject {
  const own = item.properties === undefined ? {} : item.properties;
  if (!isJsonObject(own)) throw hydrationError('`properties` must be an object');
  const set = mergeObjects(own.$set, item.$set, '$set');
  const setOnce = mergeObjects(own.$set_once, item.$set_once, '$set_once');
  const unset = mergeKeys(own.$unset, item.$unset);
  if (set === null && setOnce === null && unset === null) return own;
  return {
    ...own,
    ...(set === null ? {} : { $set: set }),
    ...(setOnce === null ? {} : { $set_once: setOnce }),
    ...(unset === null ? {} : { $unset: unset }),
  };
}

function mergeObjects(
  inner: JsonValue | undefined,
  top: JsonValue | undefined,
  field: string,
): JsonObject | null {
  if (top === undefined || top === null) return null;
  if (!isJsonObject(top)) throw hydrationError(`\`${field}\` must be an object`);
  return isJsonObject(inner) ? { ...inner, ...top } : top;
}

function mergeKeys(
  inner: JsonValue | undefined,
  top: JsonValue | undefined,
): readonly string[] | null {
  if (top === undefined || top === null) return null;
  return [...new Set([...readKeys(inner), ...readKeys(top)])];
}

/** `$unset` names keys as an array of texts or as the keys of an object. */
function readKeys(value: JsonValue | undefined): readonly string[] {
  if (value === undefined) return [];
  if (isArray(value)) return value.filter((key) => typeof key === 'string');
  return isJsonObject(value) ? Object.keys(value) : [];
}

function readUuid(value: JsonValue | undefined): string {
  if (value === undefined || value === null || value === '') return newUuid();
  const uuid = typeof value === 'string' ? toCanonicalUuid(value) : null;
  if (uuid === null) throw hydrationError('invalid uuid');
  return uuid;
}

/** The UUID in lower case and with hyphens, whichever usual form it has; null when it is none. */
export function toCanonicalUuid(text: string): string | null {
  if (CANONICAL_UUID.test(text)) return text;
  const hex = UUID_TEXT.exec(text)?.[1]?.replaceAll('-', '').toLowerCase();
  if (hex === undefined) return null;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function readTimestamp(value: JsonValue | undefined): Date | null {
  if (typeof value === 'string') return parseTimestamp(value);
  return typeof value === 'number' ? parseEpoch(value) : null;
}

function readOffset(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function requireCookielessMode(value: JsonValue | undefined): void {
  if (value === undefined || value === null || typeof value === 'boolean') return;
  throw invalidCapture('event submitted with invalid cookieless mode');
}

function requireObjects(values: readonly JsonValue[]): JsonObject[] {
  if (values.length > EVENTS_MAX) {
    throw tooLargeCapture(`the request holds more than ${EVENTS_MAX} events`);
  }
  return values.map(requireObject);
}

function requireObject(value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value;
  throw hydrationError('each event must be an object');
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
