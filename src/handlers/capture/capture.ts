import type { EventBuffer } from '../../domain/capture/commit/event-buffer.ts';
import { CaptureError } from '../../domain/capture/parse/capture-error.ts';
import { type CapturePath, parseCaptureBody } from '../../domain/capture/parse/parse-capture.ts';
import { isJson } from '../../domain/common/json.ts';
import type { SnapshotStore } from '../../domain/snapshots/snapshot-store.ts';
import { type Handlers, RawJson, type RequestOrigin } from '../../operations/operation.ts';

export interface CaptureHandlersContext {
  readonly snapshots: SnapshotStore;
  readonly events: EventBuffer;
}

/** Clocks in the query that say 2020 or earlier are seconds, not milliseconds, and are ignored. */
const SENT_AT_AFTER_MS = Date.UTC(2021, 0, 1);

const STORED = new RawJson('{"status":"Ok"}', { isAscii: true });

/** The operations that take events in. */
export function createCaptureHandlers(
  context: CaptureHandlersContext,
): Pick<Handlers, 'captureEvent' | 'captureEventByQuery' | 'captureBatch' | 'discardTelemetry'> {
  return {
    async captureEvent({ body, origin, reply }) {
      const refusal = await capture(context, body, origin);
      if (refusal !== null) return reply(refusal.status, refusal.message);
      return isBeacon(origin) ? reply(204, undefined) : reply(200, STORED);
    },
    async captureEventByQuery({ body, origin, reply }) {
      const refusal = await capture(context, body, origin);
      if (refusal !== null) return reply(refusal.status, refusal.message);
      return isBeacon(origin) ? reply(204, undefined) : reply(200, STORED);
    },
    async captureBatch({ body, origin, reply }) {
      const refusal = await capture(context, body, origin);
      if (refusal !== null) return reply(refusal.status, refusal.message);
      return isBeacon(origin) ? reply(204, undefined) : reply(200, STORED);
    },
    discardTelemetry({ origin, reply }) {
      return isBeacon(origin) ? reply(204, undefined) : reply(200, STORED);
    },
  };
}

/** Stores the events of a body; returns once they are committed, or why they are refused. */
async function capture(
  context: CaptureHandlersContext,
  body: unknown,
  origin: RequestOrigin,
): Promise<CaptureError | null> {
  try {
    const sentAt = readSentAt(origin.rawQuery._ ?? origin.rawQuery.sent_at);
    const parsed = parseCaptureBody(isJson(body) ? body : null, {
      path: pathOf(origin),
      receivedAt: origin.receivedAt,
      ...(sentAt === null ? {} : { sentAt }),
    });
    const served =
      context.snapshots.getByToken(parsed.token) ??
      (await context.snapshots.findByToken(parsed.token));
    if (served === undefined) throw new CaptureError(401, 'API key is not valid: unknown');
    await context.events.add(served.project.id, parsed.events);
    return null;
  } catch (error) {
    if (error instanceof CaptureError) return error;
    throw error;
  }
}

/** The family of the path: the one that very old clients identify persons on reads bodies its own way. */
function pathOf({ path }: RequestOrigin): CapturePath {
  return path.startsWith('/engage') ? 'engage' : 'event';
}

function isBeacon(origin: RequestOrigin): boolean {
  return origin.rawQuery.beacon === '1';
}

function readSentAt(text: string | undefined): Date | null {
  const ms = text === undefined || !/^\d{1,15}$/.test(text) ? 0 : Number(text);
  return ms >= SENT_AT_AFTER_MS ? new Date(ms) : null;
}
