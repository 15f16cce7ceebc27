import type { CaptureEvent } from './capture-event.ts';
import { tooLargeCapture } from './capture-refusal.ts';

/** The most bytes of one event's properties as JSON. */
export const EVENT_MAX_BYTES = 1_048_576;

/** Events about language models carry whole conversations; the size of the body bounds them. */
const UNBOUNDED_PREFIX = '$ai_';

/** In UTF-8 a character of JavaScript takes at most this many bytes. */
const BYTES_PER_CHARACTER_MAX = 3;

/** Whether the event is larger than one event may be. */
export function isEventTooLarge(event: string, propertiesJson: string): boolean {
  if (propertiesJson.length * BYTES_PER_CHARACTER_MAX <= EVENT_MAX_BYTES) return false;
  if (event.startsWith(UNBOUNDED_PREFIX)) return false;
  return Buffer.byteLength(propertiesJson) > EVENT_MAX_BYTES;
}

/** Refuses the request of an event that is larger than one event may be. */
export function requireEventSize({ event }: CaptureEvent, propertiesJson: string): void {
  if (!isEventTooLarge(event, propertiesJson)) return;
  throw tooLargeCapture(`an event is larger than ${EVENT_MAX_BYTES} bytes`);
}
