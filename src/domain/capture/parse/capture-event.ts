import type { JsonObject } from '../../common/json.ts';

/** One event as capture accepted it: names, ids and times are settled, nothing is stored yet. */
export interface CaptureEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  /** As sent, with the event's own `$set`, `$set_once` and `$unset` merged in. */
  readonly properties: JsonObject;
  readonly timestamp: Date;
  readonly receivedAt: Date;
}
