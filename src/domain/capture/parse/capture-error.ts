export type CaptureErrorStatus = 400 | 401 | 413;

/**
 * A capture request that is refused. Capture has its own documented plain-text replies, which the
 * handler sends as they are: `status` with `message` as the body.
 */
export class CaptureError extends Error {
  override readonly name = 'CaptureError';
  readonly status: CaptureErrorStatus;

  constructor(status: CaptureErrorStatus, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}

/** A body that is JSON but holds no valid events: 400 with the reason. */
export function hydrationError(reason: string): CaptureError {
  return new CaptureError(400, `failed to hydrate events from request: ${reason}`);
}
