import type { EventBuffer } from '../../domain/capture/commit/event-buffer.ts';
import { unknownToken } from '../../domain/capture/parse/capture-token.ts';
import {
  type CapturePath,
  parseEvents,
  readCaptureBody,
} from '../../domain/capture/parse/parse-capture.ts';
import { isJson } from '../../domain/common/json.ts';
import { runAtOnce, runInSlices } from '../../domain/common/time-slices.ts';
import type { SnapshotStore } from '../../domain/snapshots/snapshot-store.ts';
import { type Handlers, RawJson, type RequestOrigin } from '../../operations/operation.ts';

export interface CaptureHandlersContext {
  readonly snapshots: SnapshotStore;
  readonly events: EventBuffer;
}

/** More events than this are looked at in several turns of the event loop. */
export const AT_ONCE_EVENTS = 200;

/** Clocks in the query that say 2020 or earlier are seconds, not milliseconds, and are ignored. */
const SENT_AT_AFTER_MS = Date.UTC(2021, 0, 1);

const STORED = new RawJson('{"status":"Ok"}', { isAscii: true });

/** The operations that take events in. */
export function createCaptureHandlers(
  context: CaptureHandlersContext,
): Pick<Handlers, 'captureEvent' | 'captureEventByQuery' | 'captureBatch' | 'discardTelemetry'> {
  return {
    async captureEvent({ body, origin, reply }) {
      await capture(context, body, origin);
      return isBeacon(origin) ? reply(204, undefined) : reply(200, STORED);
    },
    async captureEventByQuery({ body, origin, reply }) {
      await capture(context, body, origin);
      return isBeacon(origin) ? reply(204, undefined) : reply(200, STORED);
    },
    async captureBatch({ body, origin, reply }) {
      await capture(context, body, origin);
      return isBeacon(origin) ? reply(204, undefined) : reply(200, STORED);
    },
    discardTelemetry({ origin, reply }) {
      return isBeacon(origin) ? reply(204, undefined) : reply(200, STORED);
    },
  };
}

/** Stores the events of a body; resolves once they are committed. */
async function capture(
  context: CaptureHandlersContext,
  body: unknown,
  origin: RequestOrigin,
): Promise<void> {
  const sentAt = readSentAt(origin.rawQuery._ ?? origin.rawQuery.sent_at);
  const { snapshots, events } = context;
  const read = readCaptureBody(isJson(body) ? body : null, pathOf(origin));
  // Who sends this is asked before its events are looked at one by one.
  const served = snapshots.getByToken(read.token) ?? (await snapshots.findByToken(read.token));
  if (served === undefined) throw unknownToken();
  const { receivedAt } = origin;
  const parsing = { receivedAt, ...(sentAt === null ? {} : { sentAt }) };
  const parsed =
    read.items.length <= AT_ONCE_EVENTS
      ? runAtOnce(parseEvents(read, parsing))
      : await runInSlices(parseEvents(read, parsing));
  await events.add(served.project.id, parsed);
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
