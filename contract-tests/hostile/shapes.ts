/**
 * JSON values that cost the one who reads them far more than the one who writes them, each built
 * from its size in bytes alone, so that every run sends the same.
 */
export interface Shape {
  readonly name: string;
  /** What the value is, for the place of a request that it can take. */
  readonly kind: 'list' | 'object' | 'text' | 'damaged';
  /** About so many bytes of JSON; a shape that is counted in levels may be smaller. */
  build(bytes: number): Buffer;
}

/** The deepest nesting that is sent. */
const LEVELS_MAX = 1_000_000;

/** The unit again and again, without its last byte, between an opening and a closing. */
function repeat(open: string, unit: string, close: string, bytes: number): Buffer {
  const times = Math.max(1, Math.floor((bytes - open.length - close.length) / unit.length));
  const middle = Buffer.alloc(times * unit.length, unit);
  return Buffer.concat([Buffer.from(open), middle.subarray(0, -1), Buffer.from(close)]);
}

/** Levels of nesting, all of them closed again. */
function nest(open: string, inside: string, close: string, bytes: number): Buffer {
  const levels = Math.min(LEVELS_MAX, Math.floor(bytes / (open.length + close.length)));
  return Buffer.concat([
    Buffer.alloc(levels * open.length, open),
    Buffer.from(inside),
    Buffer.alloc(levels * close.length, close),
  ]);
}

/** As many as are still below the smallest bound on a packed body. */
const KEYS_MAX = 900_000;
const INDEX_KEYS_MAX = 300_000;

/** An object of as many keys as there is room for, up to a bound. */
function withKeys(bytes: number, keysMax: number, keyOf: (index: number) => string): Buffer {
  const parts: string[] = [];
  let left = bytes - 2;
  for (let index = 0; left > 0 && index < keysMax; index += 1) {
    const part = `"${keyOf(index)}":0`;
    parts.push(part);
    left -= part.length + 1;
  }
  return Buffer.from(`{${parts.join(',')}}`);
}

/** Characters of base64 that look random and are the same in every run. */
export function noise(length: number, seed = 1): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';
  const made = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    made[at] = alphabet.charCodeAt(state >>> 26);
  }
  return made;
}

/** One part in so many is noise, by which a packed body stays under any bound on its ratio. */
const NOISE_SHARE = 12;

/** Tiny objects with noise between them: packed about ten to one, as honest events are. */
function salted(bytes: number): Buffer {
  const parts: Buffer[] = [];
  const block = 5_400;
  const random = noise(Math.ceil(bytes / NOISE_SHARE));
  const objects = Buffer.alloc(block, '{},');
  const grains = Math.floor((bytes - random.length) / block);
  for (let grain = 0; grain < grains; grain += 1) {
    const size = Math.floor(random.length / grains);
    const text = random.subarray(grain * size, (grain + 1) * size);
    parts.push(objects, Buffer.from('"'), text, Buffer.from('",'));
  }
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from('0]')]);
}

export const SHAPES = {
  objects: list('a list of {}', (bytes) => repeat('[', '{},', ']', bytes)),
  lists: list('a list of []', (bytes) => repeat('[', '[],', ']', bytes)),
  zeros: list('a list of 0', (bytes) => repeat('[', '0,', ']', bytes)),
  texts: list('a list of ""', (bytes) => repeat('[', '"",', ']', bytes)),
  smallObjects: list('a list of {"a":{}}', (bytes) => repeat('[', '{"a":{}},', ']', bytes)),
  fractions: list('a list of 5e-324', (bytes) => repeat('[', '5e-324,', ']', bytes)),
  salted: list('a list of {} with noise in between', salted),
  deepLists: list('lists in lists', (bytes) => nest('[', '', ']', bytes)),
  deepObjects: object('objects in objects', (bytes) => nest('{"a":', '0', '}', bytes)),
  wideAndDeep: list('a list of lists in lists', (bytes) =>
    repeat('[', `${'['.repeat(100)}${']'.repeat(100)},`, ']', bytes),
  ),
  keys: object('900,000 keys', (bytes) => withKeys(bytes, KEYS_MAX, (index) => `k${index}`)),
  duplicateKeys: object('a million times one key', (bytes) => repeat('{', '"a":0,', '}', bytes)),
  indexKeys: object('300,000 keys that are numbers', (bytes) =>
    withKeys(bytes, INDEX_KEYS_MAX, (index) =>
      String((Math.imul(index, 2_654_435_761) >>> 0) % 4_294_967_295),
    ),
  ),
  prototypeKeys: object('a million times __proto__', (bytes) =>
    repeat('{', '"__proto__":{},', '}', bytes),
  ),
  longText: text('a long text', (bytes) => repeat('"', 'aaaa', '"', bytes)),
  escapes: text('a long text of \\u0000', (bytes) => repeat('"', '\\u0000', 'a"', bytes - 6)),
  backslashes: text('a long text of \\\\', (bytes) => repeat('"', '\\\\', '\\"', bytes)),
  wideText: text('a long text beyond Latin-1', (bytes) =>
    Buffer.concat([Buffer.from('"'), Buffer.alloc(bytes - (bytes % 4), '😀'), Buffer.from('"')]),
  ),
  longNumber: text('a number of a million digits', (bytes) => repeat('', '11', '1', bytes)),
  longFraction: text('a fraction of a million digits', (bytes) => repeat('0.', '00', '1e1', bytes)),
  nans: list('a list of NaN', (bytes) => repeat('[', 'NaN,', ']', bytes)),
  nanQuotes: damaged('NaN and quotes', (bytes) => repeat('[NaN,', '"\\', '', bytes)),
  infinities: list('a list of -Infinity', (bytes) => repeat('[', '-Infinity,', ']', bytes)),
  cutOff: damaged('a list of {} that is cut off', (bytes) => repeat('[', '{},', '', bytes)),
  spaces: damaged('spaces', (bytes) => Buffer.alloc(bytes, ' ')),
  base64Digits: damaged('digits of base64', (bytes) => Buffer.alloc(bytes & ~3, 'AAAA')),
  commas: damaged('signs', (bytes) => Buffer.alloc(bytes, '-')),
} satisfies Record<string, Shape>;

function list(name: string, build: Shape['build']): Shape {
  return { name, kind: 'list', build };
}

function object(name: string, build: Shape['build']): Shape {
  return { name, kind: 'object', build };
}

function text(name: string, build: Shape['build']): Shape {
  return { name, kind: 'text', build };
}

function damaged(name: string, build: Shape['build']): Shape {
  return { name, kind: 'damaged', build };
}
