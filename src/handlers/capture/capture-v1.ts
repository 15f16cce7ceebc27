import { AnalyticsError } from '../../domain/capture/parse/analytics-error.ts';
import { CaptureError } from '../../domain/capture/parse/capture-error.ts';
import { requireToken } from '../../domain/capture/parse/capture-token.ts';
import {
  type ParsedAnalytics,
  parseAnalyticsBatch,
} from '../../domain/capture/parse/parse-analytics.ts';
import { isJson, isJsonObject, type JsonValue } from '../../domain/common/json.ts';
import type { Handlers, RequestOrigin } from '../../operations/operation.ts';
import type { CaptureHandlersContext } from './capture.ts';

const ERROR_URI = 'https://posthog.com/docs/api';

/** The operation that takes events in and tells what became of each. */
export function createAnalyticsHandlers({
  snapshots,
  events,
}: CaptureHandlersContext): Pick<Handlers, 'captureAnalyticsEvents'> {
  async function findProjectId(origin: RequestOrigin): Promise<number> {
    const token = requireToken(readBearer(origin));
    const served = snapshots.getByToken(token) ?? (await snapshots.findByToken(token));
    if (served === undefined) throw new CaptureError(401, 'API key is not valid: unknown');
    return served.project.id;
  }

  /** Stores the events; those that the database does not take become dropped ones. */
  async function store(projectId: number, parsed: ParsedAnalytics): Promise<void> {
    try {
      await events.add(projectId, parsed.events);
    } catch (error) {
      if (!(error instanceof CaptureError)) throw error;
      for (const [uuid, { result }] of parsed.results) {
        if (result === 'ok') parsed.results.set(uuid, { result: 'drop', details: 'rejected' });
      }
    }
  }

  return {
    async captureAnalyticsEvents({ body, origin, reply }) {
      try {
        const projectId = await findProjectId(origin);
        const parsed = parseAnalyticsBatch(readBatch(isJson(body) ? body : null), {
          receivedAt: origin.receivedAt,
          sentAt: readSentAt(origin),
          sdkInfo: readHeader(origin, 'posthog-sdk-info'),
        });
        await store(projectId, parsed);
        return reply(200, { results: Object.fromEntries(parsed.results) });
      } catch (error) {
        if (error instanceof AnalyticsError) return reply(400, toBody(error.tag, error.message));
        if (!(error instanceof CaptureError)) throw error;
        return reply(401, toBody('invalid_api_token', `${error.message}.`));
      }
    },
  };
}

function toBody(error: string, text: string) {
  return { error, error_description: text, error_uri: ERROR_URI };
}

function readBearer(origin: RequestOrigin): string | null {
  return /^Bearer\s+(\S*)$/i.exec(readHeader(origin, 'authorization'))?.[1] ?? null;
}

/** The contract's pattern lets through offsets that no clock has. */
function readSentAt(origin: RequestOrigin): Date {
  const sentAt = new Date(readHeader(origin, 'posthog-request-timestamp'));
  if (!Number.isNaN(sentAt.getTime())) return sentAt;
  throw new AnalyticsError(
    'invalid_header_value',
    'The header posthog-request-timestamp is no time.',
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
