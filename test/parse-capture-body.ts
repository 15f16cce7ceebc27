import {
  type CapturePath,
  type CaptureTimes,
  parseEvents,
  readCaptureBody,
} from '../src/domain/capture/parse/parse-capture.ts';
import type { JsonValue } from '../src/domain/common/json.ts';
import { runAtOnce } from '../src/domain/common/time-slices.ts';

/** The key and the events of a capture body, all at once. */
export function parseCaptureBody(
  body: JsonValue,
  { path, ...times }: CaptureTimes & { readonly path: CapturePath },
) {
  const read = readCaptureBody(body, path);
  return { token: read.token, events: runAtOnce(parseEvents(read, times)) };
}
