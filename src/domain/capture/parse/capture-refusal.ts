import { Refusal } from '../../common/refusal.ts';

/** A request that cannot be taken, whatever its events. */
export function invalidCapture(detail: string, cause?: unknown): Refusal {
  return new Refusal('malformed', detail, { cause });
}

/** A body that is JSON but holds no valid events. */
export function hydrationError(reason: string): Refusal {
  return invalidCapture(`failed to hydrate events from request: ${reason}`);
}

/** A request whose project API key is missing or none. */
export function invalidToken(detail: string): Refusal {
  return new Refusal('authentication_failed', detail, { code: 'invalid_api_token' });
}

/** A request, or an event of it, that is larger than allowed. */
export function tooLargeCapture(reason: string): Refusal {
  const code = 'payload_too_large';
  return new Refusal('too_large', `maximum event size exceeded: ${reason}`, { code });
}

/** A batch of capture v1 that is refused as a whole; `code` is a word for programs. */
export function invalidBatch(code: InvalidBatchCode, detail: string): Refusal {
  return new Refusal('malformed', detail, { code });
}

export type InvalidBatchCode =
  | 'empty_batch'
  | 'invalid_batch'
  | 'missing_event_uuid'
  | 'invalid_event_uuid'
  | 'duplicate_event_uuid'
  | 'invalid_header_value';
