import type { Shape } from './shapes.ts';

/** Who sends a request. */
export type Sender = 'nobody' | 'stranger' | 'customer';

/** The keys of the service that is attacked. */
export interface Keys {
  readonly projectApiKey: string;
  readonly personalApiKey: string;
}

/** An operation, and where in its request a hostile value can be. */
export interface Place {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** How the body is packed: capture takes many ways, the second generation what its header names. */
  readonly packing: 'ingest' | 'analytics' | 'plain';
  readonly rawMaxBytes: number;
  readonly inflatedMaxBytes: number;
  readonly takes: readonly Shape['kind'][];
  /** Puts the value into a body with the key, which is null where nobody asks or a header has it. */
  frame(value: Buffer, key: string | null): Buffer;
  headers(key: string | null): Readonly<Record<string, string>>;
  /** What it may answer besides the refusals that every operation has. */
  readonly extraStatuses?: readonly number[];
  /** The value goes into the query, as `data`. */
  readonly isQuery?: boolean;
}

const MIB = 1024 * 1024;
const BODY_KINDS: readonly Shape['kind'][] = ['list', 'object', 'text', 'damaged'];

export const wrap = (before: string, value: Buffer, after: string): Buffer =>
  Buffer.concat([Buffer.from(before), value, Buffer.from(after)]);

/** The key comes last, so that nobody knows it before the whole body is read. */
const keyLast = (name: string, key: string | null) => (key === null ? '}' : `,"${name}":"${key}"}`);

const noHeaders = () => ({});
const bearer = (key: string | null) => (key === null ? {} : { authorization: `Bearer ${key}` });

const capture = {
  method: 'POST',
  packing: 'ingest',
  rawMaxBytes: 2 * MIB,
  inflatedMaxBytes: 24 * MIB,
  takes: BODY_KINDS,
  headers: noHeaders,
} as const;

const alone: Place['frame'] = (value) => value;
const asBatch: Place['frame'] = (value, key) => wrap('{"batch":', value, keyLast('api_key', key));
const asProperties: Place['frame'] = (value, key) =>
  wrap('{"event":"e","distinct_id":"d","properties":', value, keyLast('api_key', key));
const asProperty: Place['frame'] = (value, key) =>
  wrap('{"event":"e","distinct_id":"d","properties":{"p":', value, `}${keyLast('api_key', key)}`);
const asSet: Place['frame'] = (value, key) =>
  wrap('{"event":"$set","distinct_id":"d","$set":', value, keyLast('api_key', key));
const asEngage: Place['frame'] = (value, key) =>
  wrap(`{"$token":"${key ?? ''}","$distinct_id":"d","$set":`, value, '}');

/** Capture, in its first generation. */
export const CAPTURE_PLACES: readonly Place[] = [
  { ...capture, name: 'POST /e/', path: '/e/', frame: alone },
  { ...capture, name: 'POST /e/ properties', path: '/e/', frame: asProperties, takes: ['object'] },
  { ...capture, name: 'POST /e/ a property', path: '/e/', frame: asProperty },
  { ...capture, name: 'POST /e/ $set', path: '/e/', frame: asSet, takes: ['object'] },
  { ...capture, name: 'POST /capture/', path: '/capture/', frame: asBatch, takes: ['list'] },
  { ...capture, name: 'POST /track/', path: '/track/', frame: asProperty, takes: ['list', 'text'] },
  { ...capture, name: 'POST /engage/', path: '/engage/', frame: asEngage, takes: ['object'] },
  {
    ...capture,
    name: 'POST /batch/',
    path: '/batch/',
    frame: asBatch,
    rawMaxBytes: 20 * MIB,
    takes: ['list'],
  },
  {
    ...capture,
    name: 'GET /e/?data=',
    method: 'GET',
    path: '/e/',
    frame: alone,
    rawMaxBytes: 200_000,
    isQuery: true,
  },
];

const analyticsHeaders = (key: string | null) => ({
  ...bearer(key),
  'user-agent': 'hostile/1.0',
  'posthog-sdk-info': 'hostile/1.0',
  'posthog-attempt': '1',
  'posthog-request-id': '019bda1c-7c40-7c7e-8f5a-2f6f1f0a9b3d',
  'posthog-request-timestamp': '2026-01-20T09:30:01Z',
});

const analytics = {
  method: 'POST',
  path: '/i/v1/analytics/events/',
  packing: 'analytics',
  rawMaxBytes: 10 * MIB,
  inflatedMaxBytes: 50 * MIB - 1_024,
  headers: analyticsHeaders,
  extraStatuses: [415],
} as const;

const EVENT_ID = '019bda1c-7c40-7c7e-8f5a-2f6f1f0a9b3e';

/** Capture, in its second generation. */
export const ANALYTICS_PLACES: readonly Place[] = [
  {
    ...analytics,
    name: 'POST /i/v1/analytics/events/',
    takes: ['list', 'damaged'],
    frame: (value) => wrap('{"batch":', value, '}'),
  },
  {
    ...analytics,
    name: 'POST /i/v1/analytics/events/ properties',
    takes: ['object', 'text'],
    frame: (value) =>
      wrap(
        `{"batch":[{"event":"e","uuid":"${EVENT_ID}","distinct_id":"d","properties":`,
        value,
        '}]}',
      ),
  },
];

const evaluation = {
  method: 'POST',
  packing: 'ingest',
  rawMaxBytes: 2 * MIB,
  inflatedMaxBytes: 4 * MIB - 256,
  headers: noHeaders,
} as const;

const inEvaluation =
  (field: string): Place['frame'] =>
  (value, key) =>
    wrap(`{"distinct_id":"d","${field}":`, value, keyLast('token', key));

/** Evaluation; `$` of a key in front is what older clients send. */
export const EVALUATION_PLACES: readonly Place[] = [
  {
    ...evaluation,
    name: 'POST /flags?v=2 a person property',
    path: '/flags?v=2',
    takes: BODY_KINDS,
    frame: (value, key) =>
      wrap('{"distinct_id":"d","person_properties":{"p":', value, `}${keyLast('token', key)}`),
  },
  {
    ...evaluation,
    name: 'POST /flags?v=2 person_properties',
    path: '/flags?v=2',
    takes: ['object'],
    frame: inEvaluation('person_properties'),
  },
  {
    ...evaluation,
    name: 'POST /flags?v=2 groups',
    path: '/flags?v=2',
    takes: ['object'],
    frame: inEvaluation('groups'),
  },
  {
    ...evaluation,
    name: 'POST /flags?v=2 group_properties',
    path: '/flags?v=2',
    takes: ['object'],
    frame: inEvaluation('group_properties'),
  },
  {
    ...evaluation,
    name: 'POST /flags?v=2 flag_keys_to_evaluate',
    path: '/flags?v=2',
    takes: ['list'],
    frame: inEvaluation('flag_keys_to_evaluate'),
  },
  {
    ...evaluation,
    name: 'POST /decide/?v=3',
    path: '/decide/?v=3',
    takes: BODY_KINDS,
    frame: alone,
  },
];
