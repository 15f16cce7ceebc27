export type AnalyticsErrorTag =
  | 'empty_batch'
  | 'invalid_batch'
  | 'missing_event_uuid'
  | 'invalid_event_uuid'
  | 'duplicate_event_uuid'
  | 'invalid_header_value';

/** A batch that is refused as a whole; the handler sends `tag` and `message` as they are. */
export class AnalyticsError extends Error {
  override readonly name = 'AnalyticsError';
  readonly tag: AnalyticsErrorTag;

  constructor(tag: AnalyticsErrorTag, message: string) {
    super(message);
    this.tag = tag;
  }
}
