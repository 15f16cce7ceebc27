import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/domain/common/json.ts';

/** Moments that count as now, chosen so that stepping back by months has days to clamp. */
const MOMENTS = [
  '2024-03-31T10:30:00.000Z',
  '2024-02-29T00:00:00.000Z',
  '2025-05-31T23:59:59.999Z',
  '2026-01-15T12:00:00.000Z',
] as const;

const DAY_MS = 86_400_000;
const OFFSET_MS = 5.5 * 3_600_000;

export const moments = fc.constantFrom(...MOMENTS).map((text) => new Date(text));

const lowerWords = [
  'pro',
  'free',
  'enterprise',
  'ΣΊΣΥΦΟΣ',
  'straße',
  'żółć',
  'éa',
  '\u212a',
  'i\u0307',
];
const words = fc.constantFrom(
  ...lowerWords.flatMap((word) => [word, word.toUpperCase(), `${word} plan`]),
  'Pro',
  'pRo Plan',
  '',
  'null',
  'true',
  'FALSE',
);

/** Short texts of few ASCII characters, white space and controls among them. */
export const codes = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: fc.constantFrom(...'abAB01'), maxLength: 6 }) },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.constantFrom(...'abA01 ._-/@+$^(){}[]|*?\\\t\n\f'),
      maxLength: 8,
    }),
  },
);

const fractions = fc.constantFrom(0.5, -0.5, 1.5, 2.25, 1e-7, 99.99);
const integers = fc.oneof(fc.integer({ min: -3, max: 12 }), fc.constantFrom(1e21, 2 ** 53, -0));
const numberTexts = fc.constantFrom('0', '1', '-1', '+2', '1e1', '.5', '5.', '007', '1.50', '-2E0');
const numbers = fc.oneof(
  integers,
  fractions,
  numberTexts,
  fc.double({ min: -5, max: 5, noNaN: true }),
);

const versionNumbers = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 }) },
  { weight: 1, arbitrary: fc.integer({ min: 9, max: 11 }) },
);
const versions = fc
  .record({
    prefix: fc.constantFrom('', '', '', 'v', ' ', ' v'),
    numbers: fc.array(versionNumbers, { minLength: 1, maxLength: 3 }),
    suffix: fc.constantFrom('', '', '', '+build.5', ' '),
  })
  .map((version) => `${version.prefix}${version.numbers.join('.')}${version.suffix}`);

export const versionWildcards = fc
  .record({
    prefix: fc.constantFrom('', '', 'v'),
    numbers: fc.array(versionNumbers, { minLength: 1, maxLength: 2 }),
  })
  .map((version) => `${version.prefix}${version.numbers.join('.')}.*`);

type DateFormat = 'iso' | 'offset' | 'seconds' | 'minutes' | 'day' | 'spaced' | 'rfc';

const formats = fc.constantFrom<DateFormat>(
  'iso',
  'iso',
  'offset',
  'seconds',
  'minutes',
  'day',
  'spaced',
  'rfc',
);

function formatDate(date: Date, format: DateFormat): string {
  const iso = date.toISOString();
  switch (format) {
    case 'iso':
      return iso;
    case 'offset':
      return new Date(date.getTime() + OFFSET_MS).toISOString().replace('Z', '+05:30');
    case 'seconds':
      return `${iso.slice(0, 19)}Z`;
    case 'minutes':
      return `${iso.slice(0, 16)}Z`;
    case 'day':
      return iso.slice(0, 10);
    case 'spaced':
      return `${iso.slice(0, 19).replace('T', ' ')}+02:00`;
    case 'rfc':
      return date.toUTCString();
  }
}

/** Dates with a zone, or whole days: near the moments and near what relative dates resolve to. */
const dates = fc
  .record({
    moment: moments,
    days: fc.oneof(
      fc.integer({ min: -3, max: 40 }),
      fc.constantFrom(0, 7, 30, 31, 60, 61, 62, 91, 92, 365, 366),
    ),
    jitterMs: fc.constantFrom(0, 0, 0, -1, 1),
    format: formats,
  })
  .map(({ moment, days, jitterMs, format }) =>
    formatDate(new Date(moment.getTime() - days * DAY_MS + jitterMs), format),
  );

const relativeDates = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.integer({ min: 0, max: 62 }), fc.constantFrom(365, 9999, 10_000)),
    fc.constantFrom('h', 'd', 'w', 'm', 'y'),
  )
  .filter(([, amount]) => amount < 10_000)
  .map((parts) => parts.join(''));

/** What a date filter compares with. */
export const dateBounds = fc.oneof(
  { weight: 2, arbitrary: dates },
  { weight: 2, arbitrary: relativeDates },
  { weight: 1, arbitrary: fc.constantFrom('1m', '2m', '-2m', '-3m', '12m', '1y') },
);

export const booleanLike = fc.constantFrom(true, false, 'true', 'TRUE', 'True', 'false', 'FALSE');
const switches = fc.oneof(booleanLike, fc.constantFrom('yes', '', 'banana', 1.5));

const items = fc.constantFrom<JsonValue>('a', 'B', 'true', 'FALSE', true, false, null, 1.5, 'é');
const lists = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: items },
    { weight: 1, arbitrary: fc.array(items, { maxLength: 2 }) },
  ),
  { maxLength: 3 },
);
/** Few enough for an object to meet its own text, with keys that are not in order. */
const objects = fc.constantFrom<JsonValue>(
  {},
  { b: 1.5, a: 'x' },
  { 9: null, 10: [true] },
  { é: 'É', B: { d: false, c: 0.5 } },
);
const jsonTexts = fc.constantFrom(
  '{}',
  '[]',
  '["a","B"]',
  '[1.5]',
  '{"a":"x","b":1.5}',
  '{"10":[true],"9":null}',
  '{"B":{"c":0.5,"d":false},"é":"é"}',
);
const composites = fc.oneof(lists, objects, jsonTexts);

interface PropertyFamily {
  readonly keys: readonly string[];
  readonly values: fc.Arbitrary<JsonValue>;
}

/** The properties that persons and groups have, and what each can hold. */
const FAMILIES = {
  word: { keys: ['plan', 'Land ü'], values: words },
  code: { keys: ['code', '$slug'], values: codes },
  number: { keys: ['seats', 'score'], values: numbers },
  version: { keys: ['app_version', 'sdk'], values: versions },
  date: { keys: ['signed_up', 'trial_ends'], values: dates },
  switch: { keys: ['vip', 'beta'], values: switches },
  composite: { keys: ['tags', 'address'], values: composites },
} satisfies Record<string, PropertyFamily>;

export type Family = keyof typeof FAMILIES;

/** A key that no person and no group has. */
export const ABSENT_KEY = 'never_sent';

/** A property key of one of these kinds. */
export function keyOf(...families: readonly Family[]): fc.Arbitrary<string> {
  return fc.constantFrom(...families.flatMap((family) => FAMILIES[family].keys));
}

/** A value of one of these kinds. */
export function anyOf(...families: readonly Family[]): fc.Arbitrary<JsonValue> {
  return fc.oneof(...families.map((family): fc.Arbitrary<JsonValue> => FAMILIES[family].values));
}

/** The properties of one person or group: every one is there, some are null. */
export const properties: fc.Arbitrary<JsonObject> = fc.record(
  Object.fromEntries(
    Object.values(FAMILIES).flatMap(({ keys, values }: PropertyFamily) => {
      const orNull = fc.oneof(
        { weight: 24, arbitrary: values },
        { weight: 1, arbitrary: fc.constant(null) },
      );
      return keys.map((key): [string, fc.Arbitrary<JsonValue>] => [key, orNull]);
    }),
  ),
  { noNullPrototype: true },
);
