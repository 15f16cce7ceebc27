import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { HttpReply, RequestOptions } from '../http.ts';
import { PROJECT_API_KEY } from '../start-burgee.ts';
import {
  BATCH_MAX_BYTES,
  type CoverageTable,
  type CoverageWorld,
  capturing,
  EVENT_MAX_BYTES,
} from './provoke.ts';

const ANALYTICS_MAX_BYTES = 10_485_760;
const TELEMETRY_MAX_BYTES = 26_214_400;

const event = { api_key: PROJECT_API_KEY, event: 'tested', distinct_id: 'a-person' };

function querying(world: CoverageWorld, body: object, query: object = {}): Promise<HttpReply> {
  const data = gzipSync(JSON.stringify(body)).toString('base64');
  return world.send('GET', '/i/v0/e/', { query: { data, ...query } });
}

function analysing(
  world: CoverageWorld,
  batch: readonly object[],
  options: RequestOptions = {},
): Promise<HttpReply> {
  return world.send('POST', '/i/v1/analytics/events/', {
    key: PROJECT_API_KEY,
    ...(options.raw === undefined ? { body: { batch } } : {}),
    ...options,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'tests/1.0',
      'posthog-sdk-info': 'tests/1.0',
      'posthog-attempt': '1',
      'posthog-request-id': randomUUID(),
      'posthog-request-timestamp': new Date().toISOString(),
      ...options.headers,
    },
  });
}

function anAnalyticsEvent(): object {
  return { ...event, uuid: randomUUID(), timestamp: new Date().toISOString() };
}

/** The intake of events. */
export const captureOperations: CoverageTable = {
  captureEvent: capturing('/i/v0/e/', EVENT_MAX_BYTES),
  captureBatch: capturing('/batch/', BATCH_MAX_BYTES),
  captureEventByQuery: {
    200: (world) => querying(world, event),
    204: (world) => querying(world, event, { beacon: '1' }),
    400: (world) => world.send('GET', '/i/v0/e/'),
    401: (world) => querying(world, { ...event, api_key: undefined }),
    413: (world) => querying(world, { ...event, properties: { large: 'x'.repeat(1_100_000) } }),
    503: (world) => querying(world, event),
  },
  captureAnalyticsEvents: {
    200: (world) => analysing(world, [anAnalyticsEvent()]),
    400: (world) => analysing(world, []),
    401: (world) => analysing(world, [anAnalyticsEvent()], { key: 'phc_nobody' }),
    413: (world) => analysing(world, [], { raw: 'x'.repeat(ANALYTICS_MAX_BYTES + 1) }),
    415: (world) =>
      analysing(world, [], { raw: '<event/>', headers: { 'content-type': 'text/html' } }),
    503: (world) => analysing(world, [anAnalyticsEvent()]),
  },
  discardTelemetry: {
    200: (world) => world.send('POST', '/i/v1/logs/', { body: { resourceLogs: [] } }),
    204: (world) => world.send('POST', '/i/v1/logs/?beacon=1', { raw: 'anything' }),
    400: (world) => world.send('POST', '/i/v1/logs/?beacon=lighthouse1', { raw: 'anything' }),
    413: (world) => world.send('POST', '/i/v1/logs/', { raw: 'x'.repeat(TELEMETRY_MAX_BYTES + 1) }),
  },
};
