import { invalidBatch } from '../../domain/capture/parse/capture-refusal.ts';
import { requireToken, unknownToken } from '../../domain/capture/parse/capture-token.ts';
import {
  type ParsedCaptureV1,
  parseCaptureV1Batch,
} from '../../domain/capture/parse/parse-capture-v1.ts';
import { isJson, isJsonObject, type JsonValue } from '../../domain/common/json.ts';
import { Refusal } from '../../domain/common/refusal.ts';
import { runAtOnce, runInSlices } from '../../domain/common/time-slices.ts';
import type { Handlers, RequestOrigin } from '../../operations/operation.ts';
import { AT_ONCE_EVENTS, type CaptureHandlersContext } from './capture.ts';

/** The operation that takes events in and tells what became of each. */
export function createCaptureV1Handlers({
  snapshots,
  events,
}: CaptureHandlersContext): Pick<Handlers, 'captureAnalyticsEvents'> {
  async function findProjectId(origin: RequestOrigin): Promise<number> {
    const token = requireToken(readBearer(origin));
    const served = snapshots.getByToken(token) ?? (await snapshots.findByToken(token));
    if (served === undefined) throw unknownToken();
    return served.project.id;
  }

  /** Stores the events; those that the database does not take become dropped ones. */
  async function store(projectId: number, parsed: ParsedCaptureV1): Promise<void> {
    try {
      await events.add(projectId, parsed.events);
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind === 'unavailable') throw error;
      for (const [uuid, { result }] of parsed.results) {
        if (result === 'ok') parsed.results.set(uuid, { result: 'drop', details: 'rejected' });
      }
    }
  }

  return {
    async captureAnalyticsEvents({ body, origin, reply }) {
      const projectId = await findProjectId(origin);
      const batch = readBatch(isJson(body) ? body : null);
      const parsing = parseCaptureV1Batch(batch, {
        receivedAt: origin.receivedAt,
        sentAt: readSentAt(origin),
        sdkInfo: readHeader(origin, 'posthog-sdk-info'),
      });
      const isSmall = batch.length <= AT_ONCE_EVENTS;
      const parsed = isSmall ? runAtOnce(parsing) : await runInSlices(parsing);
      await store(projectId, parsed);
      return reply(200, { results: Object.fromEntries(parsed.results) });
    },
  };
}

function readBearer(origin: RequestOrigin): string | null {
  return /^Bearer\s+(\S*)$/i.exec(readHeader(origin, 'authorization'))?.[1] ?? null;
}

/** The contract's pattern lets through offsets that no clock has. */
function readSentAt(origin: RequestOrigin): Date {
  const sentAt = new Date(readHeader(origin, 'posthog-request-timestamp'));
  if (!Number.isNaN(sentAt.getTime())) return sentAt;
  throw invalidBatch(
    'invalid_header_value',
    'The header posthog-request-timestamp must be a valid time.',
  );
}

function readHeader({ headers }: RequestOrigin, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** The contract has seen to it that there is one. */
function readBatch(body: JsonValue): readonly JsonValue[] {
  const batch = isJsonObject(body) ? body.batch : undefined;
  return Array.isArray(batch) ? batch : [];
}
