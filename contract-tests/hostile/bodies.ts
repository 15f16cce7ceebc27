import { csvBodies, managementPlaces, type Subjects } from './management-places.ts';
import {
  ENCODINGS,
  INGEST_PACKINGS,
  LONG_PACKINGS,
  type Pack,
  type Packed,
  TEXT_SHARES,
} from './packings.ts';
import {
  ANALYTICS_PLACES,
  CAPTURE_PLACES,
  EVALUATION_PLACES,
  type Keys,
  type Place,
  type Sender,
  wrap,
} from './places.ts';
import { SHAPES, type Shape } from './shapes.ts';

/** One kind of request, ready to be sent many times. */
export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** Every status that it may be answered with. */
  readonly statuses: readonly number[];
}

/** A kind of request by its name; it is built when it is sent, because some are large. */
export interface HostileKind {
  readonly name: string;
  build(keys: Keys): HostileRequest;
}

/** The refusals that every operation may answer with. */
const REFUSALS: readonly number[] = [400, 401, 413, 429, 431, 503];

/** What a customer may see besides: some of the requests are odd and still in order. */
const SUCCESSES: readonly number[] = [200, 201, 204];

const INVENTED_PROJECT_KEY = 'phc_nobodyEverMadeThisKey000000000000000001';
const INVENTED_PERSONAL_KEY = 'phx_nobodyEverMadeThisKey000000000000000001';

function keyOf(place: Place, sender: Sender, keys: Keys): string | null {
  if (sender === 'nobody') return null;
  const isManagement = place.packing === 'plain';
  if (sender === 'customer') return isManagement ? keys.personalApiKey : keys.projectApiKey;
  return isManagement ? INVENTED_PERSONAL_KEY : INVENTED_PROJECT_KEY;
}

/** Room for what a place puts around a value. */
const FRAME_BYTES = 512;

/** A request of a kind of value, at a place, packed in a way, by somebody. */
export function hostileKind(
  place: Place,
  shape: Shape,
  [packing, pack]: readonly [string, Pack],
  sender: Sender,
): HostileKind {
  return {
    name: `${place.name}, ${shape.name}, ${packing}, ${sender}`,
    build(keys) {
      const key = keyOf(place, sender, keys);
      const isLong = LONG_PACKINGS.has(packing);
      const bound = isLong ? place.rawMaxBytes : place.inflatedMaxBytes;
      const bytes = Math.floor((bound - FRAME_BYTES) * (TEXT_SHARES[packing] ?? 1));
      const text = place.frame(shape.build(bytes), key);
      return toRequest(place, key, sender, pack(text));
    },
  };
}

function toRequest(place: Place, key: string | null, sender: Sender, packed: Packed) {
  const query = new URLSearchParams(packed.query ?? {});
  if (place.isQuery === true) query.set('data', packed.body.toString('latin1'));
  const search = query.toString();
  const mark = place.path.includes('?') ? '&' : '?';
  return {
    method: place.method,
    path: search === '' ? place.path : `${place.path}${mark}${search}`,
    headers: {
      ...packed.headers,
      ...place.headers(key),
      ...(packed.headers['content-encoding'] === undefined
        ? {}
        : { 'content-encoding': packed.headers['content-encoding'] }),
    },
    body: place.isQuery === true ? null : packed.body,
    statuses: [
      ...REFUSALS,
      ...(place.extraStatuses ?? []),
      ...(sender === 'customer' ? SUCCESSES : []),
    ],
  };
}

function placeNamed(name: string): Place {
  const places = [...CAPTURE_PLACES, ...ANALYTICS_PLACES, ...EVALUATION_PLACES];
  const found = places.find((place) => place.name === name);
  if (found === undefined) throw new Error(`There is no place ${name}.`);
  return found;
}

const ingest = (name: keyof typeof INGEST_PACKINGS) => [name, INGEST_PACKINGS[name]] as const;
const encoding = (name: string) => {
  const pack = ENCODINGS[name];
  if (pack === undefined) throw new Error(`There is no encoding ${name}.`);
  return [name, pack] as const;
};

/** Events as small as they can be: a batch of them is sound. */
export const TINY_EVENTS: Shape = {
  name: 'tiny events',
  kind: 'list',
  build: (bytes) => {
    const event = '{"event":"e","distinct_id":"d"},';
    const events = Buffer.alloc(Math.floor((bytes - 2) / event.length) * event.length, event);
    return wrap('[', events.subarray(0, -1), ']');
  },
};

/** Form fields without a name, before and after the one that counts. */
const FORM_OF_NOTHING: Shape = {
  name: 'data=x&&&...',
  kind: 'damaged',
  build: (bytes) => Buffer.concat([Buffer.from('data=x'), Buffer.alloc(bytes - 6, '&')]),
};

const FORM_OF_ESCAPES: Shape = {
  name: 'data=%41%41...',
  kind: 'damaged',
  build: (bytes) => Buffer.concat([Buffer.from('data='), Buffer.alloc(bytes - 5, '%41')]),
};

const [E, BATCH, FLAGS] = ['POST /e/', 'POST /batch/', 'POST /flags?v=2 a person property'].map(
  placeNamed,
);
const V1 = placeNamed('POST /i/v1/analytics/events/');

/** The five bodies that stopped the service once. */
export function tableKinds(sender: Sender): readonly HostileKind[] {
  if (E === undefined || BATCH === undefined || FLAGS === undefined) throw new Error('No place.');
  const stranger = sender === 'nobody' ? 'stranger' : sender;
  return [
    hostileKind(E, SHAPES.objects, ingest('gzip'), sender),
    hostileKind(V1, SHAPES.objects, encoding('br'), stranger),
    hostileKind(BATCH, TINY_EVENTS, ingest('gzip'), stranger),
    hostileKind(E, FORM_OF_NOTHING, ingest('gzip that is not announced'), sender),
    hostileKind(FLAGS, SHAPES.objects, ingest('gzip'), stranger),
  ];
}

/** The same through every other packing, and the other values that are known to be dear. */
export function variantKinds(sender: Sender): readonly HostileKind[] {
  if (E === undefined || BATCH === undefined || FLAGS === undefined) throw new Error('No place.');
  const stranger = sender === 'nobody' ? 'stranger' : sender;
  const packings = Object.entries(INGEST_PACKINGS).filter(([name]) => name !== 'gzip');
  const encodings = Object.entries(ENCODINGS).filter(([name]) => name !== 'br');
  const dear = [SHAPES.deepLists, SHAPES.keys, SHAPES.duplicateKeys, SHAPES.salted];
  return [
    ...packings.map((packing) => hostileKind(E, SHAPES.objects, packing, sender)),
    ...encodings.map((packing) => hostileKind(V1, SHAPES.objects, packing, stranger)),
    ...dear.map((shape) => hostileKind(E, shape, ingest('gzip'), sender)),
    ...dear.map((shape) => hostileKind(FLAGS, shape, ingest('gzip'), stranger)),
    ...dear.map((shape) => hostileKind(V1, shape, encoding('br'), stranger)),
    hostileKind(BATCH, SHAPES.objects, ingest('gzip'), stranger),
    hostileKind(BATCH, SHAPES.salted, ingest('gzip'), stranger),
    hostileKind(E, FORM_OF_ESCAPES, ingest('gzip that is not announced'), sender),
  ];
}

const ANALYTICS_PACKINGS = ['br', 'deflate'].map(encoding);
const FIRST_PACKINGS = (['plain', 'gzip'] as const).map(ingest);

/** Every value at every place that takes its kind, in the packings that matter most there. */
export function placeKinds(
  family: 'capture' | 'analytics' | 'evaluation',
  sender: Sender,
): readonly HostileKind[] {
  const shapes: readonly Shape[] = Object.values(SHAPES);
  const [places, packings] = {
    capture: [CAPTURE_PLACES, FIRST_PACKINGS] as const,
    analytics: [ANALYTICS_PLACES, ANALYTICS_PACKINGS] as const,
    evaluation: [EVALUATION_PLACES, FIRST_PACKINGS] as const,
  }[family];
  return places.flatMap((place) =>
    shapes
      .filter(({ kind }) => place.takes.includes(kind))
      .flatMap((shape) =>
        packings
          .map((packing) => (place.isQuery === true ? ingest('base64 of gzip') : packing))
          .filter((packing, index, all) => all.indexOf(packing) === index)
          .map((packing) => hostileKind(place, shape, packing, sender)),
      ),
  );
}

/** Writes of the management interface, which takes JSON, gzip and, of members, a file. */
export function managementKinds(subjects: Subjects, sender: Sender): readonly HostileKind[] {
  const places = managementPlaces(subjects);
  const shapes: readonly Shape[] = Object.values(SHAPES);
  const kinds = places.flatMap((place) =>
    shapes
      .filter(({ kind }) => place.takes.includes(kind))
      .map((shape) => hostileKind(place, shape, ingest('gzip'), sender)),
  );
  const [place] = places;
  if (place === undefined) return kinds;
  const csv = {
    ...place,
    path: `/api/projects/1/cohorts/${subjects.cohortId}/members_csv/`,
    headers: (key: string | null) => ({
      ...place.headers(key),
      'content-type': 'text/csv',
    }),
  };
  const files = Object.entries(csvBodies(place.rawMaxBytes)).map(
    ([name, body]): HostileKind => ({
      name: `POST members_csv/, ${name}, plain, ${sender}`,
      build: (keys) => {
        const key = keyOf(csv, sender, keys);
        return toRequest(csv, key, sender, { body, headers: {} });
      },
    }),
  );
  return [...kinds, ...files];
}
