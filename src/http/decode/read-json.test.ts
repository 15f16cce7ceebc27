import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BodyBounds } from './body-bounds.ts';
import { DecodeFault } from './decode-fault.ts';
import { AT_ONCE_BYTES, readJson } from './read-json.ts';

const WIDE: BodyBounds = {
  maxBytes: 1e9,
  maxUnpackedBytes: 1e9,
  maxRatio: 1e9,
  maxValues: 1e9,
  maxKeys: 1e9,
  maxDepth: 1e9,
};

/** What became of a text: its value as JSON, which tells the order of keys, or that it is none. */
type Outcome = { readonly json: string | undefined } | 'no JSON';

async function read(text: string, isLenient = false, bounds = WIDE): Promise<Outcome> {
  try {
    const reading = { bounds, isLenient, enterLargeWork: () => undefined };
    return { json: JSON.stringify(await readJson(Buffer.from(text), reading)) };
  } catch (error) {
    if (error instanceof DecodeFault && error.kind === 'syntax') return 'no JSON';
    throw error;
  }
}

function parse(text: string): Outcome {
  try {
    return { json: JSON.stringify(JSON.parse(text)) };
  } catch {
    return 'no JSON';
  }
}

/**
 * Keys that come twice in different places, and those that objects have by nature. No key is the two
 * characters \" alone: once one was read, JSON.parse of Node.js 24 and 26 takes the key "8, or any other
 * of a quotation mark and a character, for it.
 */
const key = fc.oneof(
  fc.string(),
  fc.constantFrom('a', 'b', '1', '0', '', '__proto__', 'constructor', 'toString', 'ü😀', '\\"\\"'),
);

const { value: smallValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('null', 'true', '-0', '1e400', '[]', '{}', '[ ]', '{\n}', '"]"', '"\\\\"'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((values) => `[${values.join(' , ')}]`),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => memberOf(name, value)).join(',')}}`),
  ),
}));

function memberOf(name: string, value: unknown): string {
  return `${JSON.stringify(name)}\t:${String(value)}`;
}

/** Members of one container, some of them very many times or around a long text. */
const members = fc.array(
  fc.tuple(smallValue.map(String), key, fc.constantFrom(1, 1, 3, 900, 9_000), fc.nat(90_000)),
  { minLength: 1, maxLength: 5 },
);

/** Containers in containers, each with members beside the next. */
const largeText = fc
  .array(fc.tuple(fc.boolean(), members), { minLength: 1, maxLength: 11 })
  .map((levels) => {
    let text = JSON.stringify('x'.repeat(AT_ONCE_BYTES));
    for (const [isArray, each] of levels) text = wrap(text, isArray, each);
    return ` ${text}\n`;
  });

function wrap(
  inner: string,
  isArray: boolean,
  each: readonly (readonly [string, string, number, number])[],
): string {
  const parts = each.flatMap(([value, name, times, length], index) => {
    const long = times === 3 ? JSON.stringify('y'.repeat(length)) : value;
    // Many times a short value: the whole stays below a megabyte or so.
    const count = Math.min(times, Math.ceil(60_000 / (long.length + name.length + 5)));
    const member = (at: number) => (isArray ? long : memberOf(at === 0 ? name : `${at}`, long));
    return Array.from({ length: index === 0 ? count : 1 }, (_, at) => member(at));
  });
  const within = isArray ? inner : memberOf('inside', inner);
  const middle = Math.floor(parts.length / 2);
  const all = [...parts.slice(0, middle), within, ...parts.slice(middle)].join(',');
  return isArray ? `[${all}]` : `{${all}}`;
}

const STRUCTURE = /[{}[\],:"\\]/;

/** The text with one character less or more, where that may matter. */
function damage(text: string, at: number, inserted: string | null): string {
  const from = at % text.length;
  const next = text.slice(from).search(STRUCTURE);
  const place = next === -1 ? text.search(STRUCTURE) : from + next;
  return text.slice(0, place) + (inserted ?? '') + text.slice(place + (inserted === null ? 1 : 0));
}

const insertion = fc.constantFrom(null, ...'{}[],:"\\ 0\n', 'null', ',,', '],[', '},{');

describe('JSON that is read at once', () => {
  it('has the value that JSON.parse gives it, or none', async () => {
    await fc.assert(
      fc.asyncProperty(smallValue.map(String), fc.nat(), insertion, async (text, at, inserted) => {
        expect(await read(text)).toEqual(parse(text));
        const damaged = damage(`[${text}]`, at, inserted);
        expect(await read(damaged)).toEqual(parse(damaged));
      }),
      { numRuns: 300 },
    );
  });

  it.each(['', ' ', '\uFEFF', '[1,]', '{"a":1,}', '1 2', '[1}'])('is none: %j', async (text) => {
    expect(await read(text)).toBe('no JSON');
  });
});

describe('JSON that is read in slices', () => {
  it('has the value that JSON.parse gives it', async () => {
    await fc.assert(
      fc.asyncProperty(largeText, async (text) => {
        expect(text.length).toBeGreaterThan(AT_ONCE_BYTES);
        expect(await read(text)).toEqual(parse(text));
      }),
      { numRuns: 60 },
    );
  });

  it('is refused where JSON.parse refuses it', async () => {
    await fc.assert(
      fc.asyncProperty(largeText, fc.nat(), insertion, async (text, at, inserted) => {
        const damaged = damage(text, at, inserted);
        expect(await read(damaged)).toEqual(parse(damaged));
      }),
      { numRuns: 150 },
    );
  });

  const long = `"${'x'.repeat(AT_ONCE_BYTES)}"`;

  it.each([
    ['a comma at the end of an array', `[${long},]`],
    ['a comma at its start', `[,${long}]`],
    ['a comma too many', `[1,,${long}]`],
    ['a comma at the end of an object', `{"a":${long},}`],
    ['a comma at its start', `{,"a":${long}}`],
    ['a member without a key', `{${long}}`],
    ['a member with a key that is no text', `{1:${long}}`],
    ['a key without a value', `{"a":,"b":${long}}`],
    ['two values', `[${long}][${long}]`],
    ['two values beside each other', `[[${long}] [${long}]]`],
    ['a bracket of the other kind', `[${long}}`],
    ['brackets of the other kind inside', `[[${long}},{${long}]]`],
    ['a text without its end', `[${long.slice(0, -1)}]`],
    ['an escape at the end', `["${'x'.repeat(AT_ONCE_BYTES)}\\"]`],
    ['nothing but blanks', ' '.repeat(AT_ONCE_BYTES + 1)],
  ])('is none: %s', async (_what, text) => {
    expect(parse(text)).toBe('no JSON');
    expect(await read(text)).toBe('no JSON');
  });

  it.each([
    ['a byte order mark', `\uFEFF[${long}]`, `[${long}]`],
    ['blanks around everything', ` [ \n${long} , [ ] , { } ]\t`, `[${long},[],{}]`],
    ['an empty array of blanks', `[${' '.repeat(AT_ONCE_BYTES)}]`, '[]'],
    ['an empty object of blanks', `{${' '.repeat(AT_ONCE_BYTES)}}`, '{}'],
    ['a key twice', `{"a":1,"b":${long},"a":2}`, `{"a":2,"b":${long}}`],
    ['a long text', long, long],
  ])('may have %s', async (_what, text, same) => {
    expect(await read(text)).toEqual(parse(same));
  });

  it('keeps a key called __proto__ as data, with a short value and with a long one', async () => {
    for (const value of ['{"admin":true}', long]) {
      const text = `{"__proto__":${value},"b":${long}}`;
      const reading = { bounds: WIDE, isLenient: false, enterLargeWork: () => undefined };
      const object: unknown = await readJson(Buffer.from(text), reading);
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
      expect(JSON.stringify(object)).toBe(text);
    }
  });

  it('has null for numbers that JSON does not have, where that is let pass', async () => {
    const text = `{"a":NaN,"b":[-Infinity,${long},"NaN"],"c":{"d":Infinity,"e":${long}}}`;
    expect(await read(text)).toBe('no JSON');
    const same = `{"a":null,"b":[null,${long},"NaN"],"c":{"d":null,"e":${long}}}`;
    expect(await read(text, true)).toEqual(parse(same));
  });

  it('waits for its turn first, and small JSON does not', async () => {
    let turns = 0;
    const enterLargeWork = async () => {
      turns += 1;
    };
    const reading = { bounds: WIDE, isLenient: false, enterLargeWork };
    expect(readJson(Buffer.from('[]'), reading)).toEqual([]);
    expect(turns).toBe(0);
    await readJson(Buffer.from(long), reading);
    expect(turns).toBe(1);
  });
});

describe('the bounds of JSON', () => {
  const readWithin = (text: string, bounds: Partial<BodyBounds>) =>
    read(text, false, { ...WIDE, ...bounds });

  it.each([300, 200_000])('are kept to in a text of %d members', async (count) => {
    const text = `[${'1,'.repeat(count)}1]`;
    // An array, and its members.
    expect(await readWithin(text, { maxValues: count + 2 })).toEqual(parse(text));
    await expect(readWithin(text, { maxValues: count })).rejects.toMatchObject({
      kind: 'too_large',
      reason: `the JSON holds more than ${count} values`,
    });
  });

  it.each([200, 100_000])('are kept to in a text of %d levels', async (levels) => {
    const text = '['.repeat(levels) + ']'.repeat(levels);
    await expect(readWithin(text, { maxDepth: levels - 1 })).rejects.toMatchObject({
      kind: 'encoding',
      reason: 'the JSON is nested too deeply',
    });
  });

  it('say that bytes are not UTF-8, unless that is let pass', async () => {
    const bytes = Buffer.concat([Buffer.from('"'), Buffer.from([0xff]), Buffer.from('"')]);
    const reading = { bounds: WIDE, enterLargeWork: () => undefined };
    expect(() => readJson(bytes, { ...reading, isLenient: false })).toThrow('not UTF-8');
    expect(readJson(bytes, { ...reading, isLenient: true })).toBe('\uFFFD');
  });
});
